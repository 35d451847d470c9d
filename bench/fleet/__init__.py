"""What a fleet costs for each agent, print, viewer, request, event and delivery: docs/scale.md."""
