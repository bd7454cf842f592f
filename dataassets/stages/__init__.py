"""Pure stages: (records, settings) -> (records, report). No orchestrator, no store, no other stage."""
