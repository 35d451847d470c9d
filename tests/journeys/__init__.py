"""Whole journeys with real sockets: an app, the service, an agent, a real program as printer."""
