"""The picture of the simulated printer: render.py draws it, camera.py shows it."""
