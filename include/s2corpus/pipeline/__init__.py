"""Define, run, check, approve and summarize the stages of a release."""
