"""Setting up an agent: find the printer's software, get a key from it, and run as a service.

The service's installation script (web/installing/agent.sh) makes the environment and leaves the
rest to `printreach agent setup`, whose conversation with a person is in run/agent_questions.py.
"""
