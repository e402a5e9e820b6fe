"""Whether a job survives a session without history: its wording, its settings, and the watcher of both.

text          a prompt read: data set apart, words, clauses, sentences
phrases       the small language in which fault phrases are written, and their matcher
languages/    the phrases, one table per language
placeholders  slots that nobody filled in
rules         the rules: id, severity, what to write instead; suppressions
prompt        wording rules on a text
structure     settings of a job
job           one job: both together
sarif         findings as SARIF
watch         the nightly watcher
"""
