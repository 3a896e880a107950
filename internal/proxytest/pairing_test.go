package proxytest

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	root "github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// pairingFailures are those by which calls, results and messages were torn apart or lost.
func pairingFailures() []scenario {
	return []scenario{
		{"claude-code#6836_calls_and_results_stay_together", paired},
		{"headroom#1006_what_was_taken_out_is_there", thereAgain},
		{"headroom#1103_an_id_of_a_history_nobody_kept", unkept},
		{"headroom#902_words_in_the_middle_of_a_turn_stay", midTurn},
	}
}

const parallelTask = `
window 8000
output 500
reply 20 times when tools
  text "All three."
  call read {"path": "a.txt"}
  call read {"path": "b.txt"}
  call read {}
reply always
  text "Done."
`

// paired: parallel calls and their results leave together, by the rules of each dialect.
func paired(t *testing.T) {
	for _, d := range testagent.Dialects() {
		model := scripted(t, parallelTask)
		p := before(t, model, nil, nil)
		a := testagent.New(p.url, d, d != "gemini")
		a.Lines = 60
		must(t, a.Run(t.Context()))
		noFault(t, model)
		if lines := p.log.Requests(t, 21); lines[len(lines)-1]["edited"] != true {
			t.Errorf("%s: nothing was edited", d)
		}
	}
}

var refs = regexp.MustCompile(`\b(r[a-z2-7]{26})\b`)

// thereAgain: every reference that a model was shown is found in the store, and together
// they have every output that is no longer shown.
func thereAgain(t *testing.T) {
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "s.db"), sqlite.Options{})
	must(t, err)
	defer s.Close()
	model := scripted(t, parallelTask)
	p := before(t, model, func(o *gateway.Options) { o.Store = s }, nil)
	a := testagent.New(p.url, "openai-chat", false)
	a.Lines = 60
	must(t, a.Run(t.Context()))
	lines := p.log.Requests(t, 21)
	session, err := root.Open(t.Context(), root.Options{
		ID: lines[len(lines)-1]["session"].(string), Store: s,
		Targets: []budget.Target{{Provider: "openai", Model: "scripted-model", Window: budget.Window{Capacity: window}}},
	})
	must(t, err)
	shown := map[string]bool{}
	var kept bytes.Buffer
	calls := noFault(t, model)
	for _, call := range calls {
		for _, m := range refs.FindAllSubmatch(call.Body, -1) {
			shown[string(m[1])] = true
		}
	}
	for todo := slices.Collect(maps.Keys(shown)); len(todo) > 0; { // an archive names what is stored apart
		ref := todo[0]
		todo = todo[1:]
		data, err := session.Blob(t.Context(), llm.Ref(ref))
		if err != nil {
			t.Errorf("%s: %v", ref, err)
		}
		kept.Write(data)
		for _, m := range refs.FindAllSubmatch(data, -1) {
			if more := string(m[1]); !shown[more] {
				shown[more] = true
				todo = append(todo, more)
			}
		}
	}
	kept.Write(calls[len(calls)-1].Body)
	for n := 1; n <= 20; n++ {
		for i := range 3 {
			if want := fmt.Sprintf("line of file %d.%d", n, i); !bytes.Contains(kept.Bytes(), []byte(want)) {
				t.Errorf("%q is nowhere", want)
			}
		}
	}
	if len(shown) == 0 {
		t.Error("nothing was taken out")
	}
}

// unkept: where a client asked the provider to keep nothing, or somebody else keeps it, an
// id that goes on with it is answered as the provider answers it, and nothing is sent.
func unkept(t *testing.T) {
	model := scripted(t, "reply always\n  text \"Done.\"\n")
	p := before(t, model, nil, nil)
	_, _, answer := post(t, p.url+"/v1/responses", nil, `{"model":"m","input":"x","store":false}`)
	for _, id := range []string{gjson.Get(answer, "id").Str, "resp_of_nobody"} {
		calls := len(model.Log())
		status, _, answer := post(t, p.url+"/v1/responses", nil, fmt.Sprintf(`{"model":"m","input":"y","previous_response_id":%q}`, id))
		if status != 400 || gjson.Get(answer, "error.code").Str != "previous_response_not_found" || len(model.Log()) != calls {
			t.Errorf("%s: got %d %s", id, status, answer)
		}
	}
}

// midTurn: what a person says behind the results of tools, in a message of its own or, where
// the dialect has it so, in that of the results, is in every request from there on, through
// 50 batches, and no reminder of the client's takes its place.
func midTurn(t *testing.T) {
	for _, d := range testagent.Dialects() {
		t.Run(string(d), func(t *testing.T) { saysMidTurn(t, d, false) })
	}
	t.Run("within a result", func(t *testing.T) { saysMidTurn(t, "anthropic", true) })
}

// secondResult is the end of the string that is the result of the second step.
var secondResult = regexp.MustCompile(`line of file 2\.0\\n"`)

func saysMidTurn(t *testing.T, d llm.Dialect, within bool) {
	t.Helper()
	model := scripted(t, "window 8000\noutput 500\nreply 60 times when tools\n  call read {\"path\": \"a.txt\"}\nreply always\n  text \"Done.\"\n")
	data, err := os.ReadFile(filepath.Join("..", "..", "examples", "policies", "summary-ahead.json"))
	must(t, err)
	rules, err := policy.Parse(data) // under which nearly every request is shorter than the one before
	must(t, err)
	p := before(t, model, func(o *gateway.Options) { o.Policy = rules }, nil)
	a := testagent.New(p.url, d, true)
	const words = "Leave the vendor folder alone."
	a.Each = func(n int) {
		switch {
		case n == 3 && within:
			a.Change = func(b []byte) []byte {
				return secondResult.ReplaceAll(b, []byte(`line of file 2.0\n\n<system-reminder>\nThe user sent a new message while you were working:\n`+words+`\n</system-reminder>"`))
			}
		case n == 3:
			a.Says(words)
		case n > 3:
			a.Says(fmt.Sprintf("<system-reminder>%d files are open.</system-reminder>", n))
		}
	}
	must(t, a.Run(t.Context()))
	batches := 0
	var last []string
	for i, call := range noFault(t, model) {
		if i >= 2 && !strings.Contains(string(call.Body), words) {
			t.Fatalf("request %d, after %d batches: the words are gone: %.300s", i+1, batches, call.Body)
		}
		now := messagesOf(call.Body)
		if len(last) > 0 && (len(now) < len(last) || !slices.Equal(now[:len(last)], last)) {
			batches++
		}
		last = now
	}
	if batches < 50 {
		t.Errorf("%d batches, want 50", batches)
	}
}
