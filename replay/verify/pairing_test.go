package verify_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/replay/verify"
)

// orphans returns what is wrong with the pairs of one body.
func orphans(t *testing.T, dialect, list string) []string {
	t.Helper()
	member := map[string]string{anthropic: "messages", chat: "messages", responses: "input"}[dialect]
	b := []byte(`{"` + member + `":[` + list + `]}`)
	return check(t, dialect, b, b, verify.Options{}).Orphans
}

func TestOrphansBlocks(t *testing.T) {
	use := func(ids ...string) string {
		var blocks []string
		for _, id := range ids {
			blocks = append(blocks, `{"type":"tool_use","id":"`+id+`","name":"t","input":{}}`)
		}
		return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
	}
	user := func(blocks ...string) string { return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}` }
	res := func(id string) string { return `{"type":"tool_result","tool_use_id":"` + id + `","content":"x"}` }
	const say, ask, answer = `{"type":"text","text":"hi"}`, `{"role":"user","content":"hi"}`, `{"role":"assistant","content":"ho"}`
	for name, c := range map[string]struct {
		list []string
		want string
	}{
		"pair":                             {[]string{ask, use("a"), user(res("a"))}, ""},
		"parallel":                         {[]string{ask, use("a", "b"), user(res("b"), res("a"), say), answer, ask}, ""},
		"results in two user messages":     {[]string{ask, use("a", "b"), user(res("a")), user(res("b")), answer}, ""},
		"calls in two assistant messages":  {[]string{ask, use("a"), use("b"), user(res("a"), res("b")), answer}, ""},
		"open at the end":                  {[]string{ask, use("a")}, ""},
		"half open at the end":             {[]string{ask, use("a", "b"), user(res("a"))}, ""},
		"hosted":                           {[]string{ask, `{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"t","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[]}]}`, ask}, ""},
		"no result":                        {[]string{ask, use("a"), ask, answer}, "message 1: call a, want a result"},
		"no result, a text follows":        {[]string{ask, use("a"), ask}, "message 1: call a, want a result"},
		"half a result":                    {[]string{ask, use("a", "b"), user(res("a")), answer}, "message 1: call b, want a result"},
		"no call":                          {[]string{user(res("a"))}, "message 0: result of call a, want a call before it"},
		"twice":                            {[]string{ask, use("a"), user(res("a"), res("a"))}, "message 2: second result of call a"},
		"text first":                       {[]string{ask, use("a"), user(say, res("a"))}, "message 2: result of call a after other content"},
		"text first in an earlier message": {[]string{ask, use("a"), ask, user(res("a")), answer}, "message 3: result of call a after other content"},
		"too late":                         {[]string{ask, use("a"), user(res("a")), answer, user(res("a")), answer}, "message 4: result of call a, want it directly after"},
		"id used again":                    {[]string{ask, use("a"), user(res("a")), use("a"), user(res("a"))}, ""},
		"id used again, open":              {[]string{ask, use("a"), user(res("a")), use("a")}, ""},
		"id used again, twice":             {[]string{ask, use("a"), user(res("a")), use("a"), user(res("a"), res("a"))}, "message 4: second result of call a"},
		"id used again, no result":         {[]string{ask, use("a"), user(res("a")), use("a"), ask, answer}, "message 3: call a, want a result"},
		"same id at once":                  {[]string{ask, use("a", "a"), user(res("a"), res("a"))}, "message 1: call a, want an id that is not in use"},
		"same id at once in two messages":  {[]string{ask, use("a"), use("a"), user(res("a"), res("a"))}, "message 2: call a, want an id that is not in use"},
		"result of the assistant":          {[]string{ask, `{"role":"assistant","content":[` + res("a") + `]}`}, "message 1: result of call a in a message of the assistant"},
		"hosted result alone":              {[]string{`{"role":"assistant","content":[{"type":"web_search_tool_result","tool_use_id":"s","content":[]}]}`}, "message 0: result of hosted call s"},
	} {
		t.Run(name, func(t *testing.T) { one(t, orphans(t, anthropic, strings.Join(c.list, ",")), c.want) })
	}
}

// one checks for one finding, or none.
func one(t *testing.T, got []string, want string) {
	t.Helper()
	if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.Contains(got[0], want)) {
		t.Fatalf("orphans: got %q, want %q", got, want)
	}
}

func TestOrphansChat(t *testing.T) {
	use := func(ids ...string) string {
		var all []string
		for _, id := range ids {
			all = append(all, `{"id":"`+id+`","type":"function","function":{"name":"t","arguments":"{}"}}`)
		}
		return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(all, ",") + `]}`
	}
	res := func(id string) string { return `{"role":"tool","tool_call_id":"` + id + `","content":"x"}` }
	const ask, answer = `{"role":"user","content":"hi"}`, `{"role":"assistant","content":"ho"}`
	for name, c := range map[string]struct {
		list []string
		want string
	}{
		"parallel":        {[]string{ask, use("a", "b"), res("b"), res("a"), answer, ask}, ""},
		"ids used again":  {[]string{ask, use("a"), res("a"), use("a"), res("a"), answer}, ""},
		"open at the end": {[]string{ask, use("a", "b"), res("b")}, ""},
		"no result":       {[]string{ask, use("a"), answer, ask}, "message 1: call a, want a result"},
		"no result, text": {[]string{ask, use("a"), ask}, "message 1: call a, want a result"},
		"no call":         {[]string{ask, answer, res("a")}, "message 2: result of call a, want a call before it"},
		"twice":           {[]string{ask, use("a"), res("a"), res("a")}, "message 3: second result of call a"},
		"not next":        {[]string{ask, use("a"), ask, res("a"), answer}, "message 3: result of call a after other content"},
		"too late":        {[]string{ask, use("a"), res("a"), answer, res("a")}, "message 4: result of call a, want it directly after"},
		"same id at once": {[]string{ask, use("a", "a"), res("a"), res("a")}, "message 1: call a, want an id that is not in use"},
	} {
		t.Run(name, func(t *testing.T) { one(t, orphans(t, chat, strings.Join(c.list, ",")), c.want) })
	}
}

func TestOrphansItems(t *testing.T) {
	use := func(id string) string {
		return `{"type":"function_call","call_id":"` + id + `","name":"t","arguments":"{}"}`
	}
	res := func(id string) string { return `{"type":"function_call_output","call_id":"` + id + `","output":"x"}` }
	const ask, answer = `{"role":"user","content":"hi"}`, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ho"}]}`
	const think, search = `{"type":"reasoning","summary":[],"encrypted_content":"eA=="}`, `{"type":"web_search_call","id":"w","status":"completed"}`
	const custom, customOut = `{"type":"custom_tool_call","call_id":"k","name":"t","input":"free"}`, `{"type":"custom_tool_call_output","call_id":"k","output":"x"}`
	for name, c := range map[string]struct {
		list []string
		want string
	}{
		"parallel":          {[]string{ask, think, use("a"), use("b"), res("b"), res("a"), answer}, ""},
		"custom and hosted": {[]string{ask, custom, search, customOut, answer}, ""},
		"open at the end":   {[]string{ask, think, use("a"), use("b"), res("b")}, ""},
		"ids used again":    {[]string{ask, use("a"), res("a"), use("a"), res("a")}, ""},
		"no result":         {[]string{ask, use("a"), ask, answer}, "message 1: call a, want a result"},
		"no result, text":   {[]string{ask, use("a"), ask}, "message 1: call a, want a result"},
		"earlier reply":     {[]string{ask, use("a"), use("b"), res("b"), use("c"), res("c")}, "message 1: call a, want a result"},
		"no call":           {[]string{ask, res("a")}, "message 1: result of call a, want a call before it"},
		"result first":      {[]string{ask, res("a"), use("a")}, "message 1: result of call a, want a call before it"},
		"twice":             {[]string{ask, use("a"), res("a"), res("a")}, "message 3: second result of call a"},
		"custom open":       {[]string{ask, custom, answer, ask}, "message 1: call k, want a result"},
	} {
		t.Run(name, func(t *testing.T) { one(t, orphans(t, responses, strings.Join(c.list, ",")), c.want) })
	}
	t.Run("earlier items are with the provider", func(t *testing.T) {
		b := []byte(`{"previous_response_id":"resp_1","input":[` + res("a") + `,` + ask + `]}`)
		one(t, check(t, responses, b, b, verify.Options{}).Orphans, "")
	})
}

// What an edit tears apart is found in the edited body.
func TestOrphansAfterEdit(t *testing.T) {
	each(t, func(t *testing.T, d string) {
		turns := talk()
		f := check(t, d, body(d, turns...), body(d, append(append([]turn{}, turns[:2]...), turns[3:]...)...), verify.Options{})
		want(t, f, "orphan: call c1, want a result", "uncovered: result c1")
		f = check(t, d, body(d, turns...), body(d, append(append([]turn{}, turns[:1]...), turns[2:]...)...), verify.Options{})
		want(t, f, "orphan: result of call c1, want a call before it", "uncovered: call c1")
	})
}
