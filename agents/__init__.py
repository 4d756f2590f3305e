"""Who answers: models, roles, reply parsing, feedback, ledger, journal and the recorder protocol."""
