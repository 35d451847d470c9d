"""Looking back: prints, what happened, and figures by month."""
