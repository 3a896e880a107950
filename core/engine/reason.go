package engine

// A Reason is why a final Step was forced.
type Reason string

// The reasons. Part of them is for hosts that end a run themselves.
const (
	ReasonNone            Reason = ""
	ReasonContext         Reason = "context"
	ReasonMaxTurns        Reason = "max_turns"
	ReasonStatusCompleted Reason = "task_status_completed" // the model's report of its own state says that the task is done
	ReasonStatusOnly      Reason = "task_status_only"      // it reports its state again and again, and does nothing else
	ReasonTaskCompleted   Reason = "task_completed"        // the host knows that it is done
	ReasonRetries         Reason = "retry_exhaustion"
	ReasonUserStop        Reason = "user_stop"
)

// Sentence returns what a person reads about a forced final Step; empty if
// there is none.
func (r Reason) Sentence() string {
	switch r {
	case ReasonNone:
		return ""
	case ReasonContext:
		return "context guard enforced"
	}
	return "final step forced: " + string(r)
}

// finalTexts are what the model is told in a final Step that the host asks for,
// and, for a full context, where the policy has no text of its own.
var finalTexts = map[Reason]string{
	ReasonContext:         "The context window is {used}% full, so this is the last step. Give your final answer now, from what you already know.",
	ReasonMaxTurns:        "No more steps are allowed after this one. Do not start anything new: give your final answer now, from what you already know.",
	ReasonStatusCompleted: "You have reported that the task is done. Give your final report now.",
	ReasonStatusOnly:      "You have only reported your state, and done nothing else, so this is the last step. Give your final answer now, from what you already know.",
	ReasonTaskCompleted:   "The task is done. Give your final report now.",
	ReasonRetries:         "Too many attempts have failed, so this is the last step. Give your final answer now, from what you already know.",
	ReasonUserStop:        "The user wants to stop here. Do not start anything new: give your final answer now, from what you already know.",
}
