"""Pages of past prints, activity and monthly figures."""
