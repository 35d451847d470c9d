"""A printer in software, for demos and tests: a model, a rendered webcam and a web server.

model/ simulates and waits for nothing. Around it: engine.py lets its time pass, files.py keeps
its G-code, webcam/ and web/ show it, and runner.py puts the whole together.
"""
