// Charts are drawn when they come near the view, the others when the browser is idle, and what is left before printing.
// Their colours are the page's variables, which follow theme and print without drawing anew.
(() => {
  "use strict";
  const axis = {labelColor: "var(--ink)", titleColor: "var(--ink)", domainColor: "var(--strong)", tickColor: "var(--strong)",
    gridColor: "var(--line)", labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500};
  const config = {
    background: "transparent", font: "system-ui, sans-serif", view: {stroke: null}, axis, text: {color: "var(--ink)", fontSize: 12},
    rule: {color: "var(--muted)"}, legend: {orient: "top", labelColor: "var(--ink)", titleColor: "var(--ink)", labelFontSize: 12, labelLimit: 260},
  };
  const left = new Set(document.querySelectorAll(".chart[data-spec]"));

  function draw(place) {
    if (!left.delete(place)) return;
    watcher.unobserve(place);
    const spec = JSON.parse(document.getElementById(place.dataset.spec).textContent);
    window.kernelwright.vegaEmbed(place, spec, {actions: false, renderer: "svg", ast: true, config});
  }

  const watcher = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => draw(entry.target)), {rootMargin: "200px"});
  left.forEach((place) => watcher.observe(place));

  function rest() {
    const [next] = left;
    if (!next) return;
    draw(next);
    requestIdleCallback(rest);
  }
  addEventListener("load", () => requestIdleCallback(rest));
  addEventListener("beforeprint", () => left.forEach(draw));
})();
