package check

import (
	"maps"
	"slices"
)

// roleOf returns the side of a content: functions answer for the user, and a content without a role is the user's.
func roleOf(t node) string {
	if t.get("role").say() == "model" {
		return "model"
	}
	return "user"
}

// geminiOrder judges that the user speaks first and last, and that calls stand right after what the user said or a response. Other
// contents of one side may follow each other: the chats of the official SDKs send every chunk of a streamed text as a content.
// That no response is split off from its siblings is judged with the pairs.
func geminiOrder(turns []node) {
	if len(turns) == 0 {
		return
	}
	if roleOf(turns[0]) != "user" {
		turns[0].fault("first-role", "Please ensure that the conversation starts with a user turn.")
	}
	if last := turns[len(turns)-1]; roleOf(last) != "user" {
		last.fault("last-role", "Please ensure that multiturn requests ends with a user role or a function response.")
	}
	for i := 1; i < len(turns); i++ {
		if roleOf(turns[i]) == "model" && roleOf(turns[i-1]) == "model" && len(named(turns[i], "functionCall")) > 0 {
			turns[i].fault("role-order", "Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
		}
	}
}

// named lists the members of one kind in the parts of a content.
func named(t node, kind string) []node {
	var found []node
	for _, p := range t.get("parts").elements() {
		if m := member(p, kind); m.has() {
			found = append(found, m)
		}
	}
	return found
}

// geminiPairs judges that every turn with calls is followed by one with as many responses of the same names, and the other way round.
func geminiPairs(turns []node) {
	for i, t := range turns {
		calls, results := named(t, "functionCall"), named(t, "functionResponse")
		var before, after node
		if i > 0 {
			before = turns[i-1]
		}
		if i+1 < len(turns) {
			after = turns[i+1]
		}
		if len(calls) > 0 {
			geminiAnswered(t, calls, named(after, "functionResponse"))
		}
		if len(results) > 0 && len(named(before, "functionCall")) == 0 {
			t.fault("result-orphan", "Please ensure that function response turn comes immediately after a function call turn.")
		}
		if len(calls) > 0 && roleOf(t) != "model" {
			t.fault("part-role", "Please ensure that function call turn comes from the model.")
		}
		if len(results) > 0 && roleOf(t) == "model" {
			t.fault("part-role", "Please ensure that function response turn comes from the user.")
		}
	}
}

func geminiAnswered(t node, calls, results []node) {
	if len(results) == 0 {
		t.fault("call-unanswered", "Please ensure that function call turn is followed immediately by a function response turn.")
		return
	}
	if len(calls) != len(results) {
		t.fault("call-unanswered", "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
		return
	}
	if !maps.Equal(tally(calls, "name"), tally(results, "name")) {
		t.fault("result-name", "Please ensure that the function response parts have the names of the function call parts of the function call turn.")
	}
	ids := tally(results, "id")
	delete(ids, "")
	have := tally(calls, "id")
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		if ids[id] > have[id] {
			t.fault("result-id", "Please ensure that the ids of function response parts are those of the function call turn: %s", id)
		}
	}
}

// tally counts the values of a member.
func tally(list []node, name string) map[string]int {
	counts := map[string]int{}
	for _, n := range list {
		counts[n.get(name).say()]++
	}
	return counts
}

// geminiSigned judges that the first call of each model turn in the current loop carries its signature: from what the user last said on.
func geminiSigned(turns []node) {
	for _, t := range slices.Backward(turns) {
		if roleOf(t) == "user" && len(named(t, "functionResponse")) == 0 {
			return
		}
		for k, p := range t.get("parts").elements() {
			if !member(p, "functionCall").has() {
				continue
			}
			if member(p, "thoughtSignature").say() == "" {
				p.fault("call-unsigned", "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `%s` , position %d. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.", member(p, "functionCall").get("name").say(), k+1)
			}
			break
		}
	}
}
