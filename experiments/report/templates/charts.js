// Charts are drawn when they come into view, all of them before printing, and again when the theme changes.
(() => {
  "use strict";
  const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function theme() {
    const [ink, muted, line] = ["--ink", "--muted", "--line"].map(colour);
    return {
      background: "transparent", font: "system-ui, sans-serif", view: {stroke: null},
      axis: {labelColor: ink, titleColor: ink, domainColor: muted, tickColor: muted, gridColor: line, labelFontSize: 12, titleFontSize: 12},
      text: {color: ink, fontSize: 12}, rule: {color: muted},
    };
  }

  const drawn = new Map();

  async function draw(place) {
    const spec = JSON.parse(document.getElementById(place.dataset.spec).textContent);
    drawn.get(place)?.finalize();
    drawn.set(place, await window.kernelwright.vegaEmbed(place, spec, {actions: false, renderer: "svg", ast: true, config: theme()}));
  }

  const places = [...document.querySelectorAll(".chart[data-spec]")];
  const watcher = new IntersectionObserver(entries => {
    for (const entry of entries) {
      if (entry.isIntersecting) {
        watcher.unobserve(entry.target);
        draw(entry.target);
      }
    }
  }, {rootMargin: "200px"});
  places.forEach(place => watcher.observe(place));
  addEventListener("beforeprint", () => places.filter(place => !drawn.has(place)).forEach(draw));
  document.addEventListener("themechange", () => [...drawn.keys()].forEach(draw));
})();
