"""Whether a job survives a session without history: its wording, its settings, and the watcher of both.

text          a prompt read: data set apart, words, clauses, sentences
phrases       the small language in which fault phrases are written, and their matcher
patterns      phrases that count only beside words of another kind, or without them
languages/    the phrases and patterns, two tables per language
content       what only looks like an order: text for others, what is forbidden
whole         what a prompt says as a whole
placeholders  slots that nobody filled in
rules         the rules: id, severity, what to write instead; suppressions
prompt        wording rules on a text
structure     settings of a job
job           one job: both together
sarif         findings as SARIF
watch         the nightly watcher
"""
