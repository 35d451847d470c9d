"""The use cases: rules and ports put together, and nothing else."""
