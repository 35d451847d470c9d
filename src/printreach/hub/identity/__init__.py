"""Who somebody is: signing up and in, sessions, and the proof that it is they who ask."""
