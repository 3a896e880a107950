// Package advice says what could have been had for less in a session that package inspect has
// looked at: at most five findings, each with its figure and the command or change that would
// have helped. The rules are data ([Rules]); what they measure is in the report, and what
// another policy would have sent in the figures of a replay, which a caller may add. It is
// pure, it decides nothing about a conversation, and it reads no files.
//
//	report.Findings = advice.Of(report, replayed)
//
// A finding has to be true of the session and of use to who reads it: where a figure is
// missing that a rule needs, the rule is silent.
package advice
