"""Installing an agent from the service: a script, the agent's wheel, its pinned libraries."""
