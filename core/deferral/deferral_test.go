package deferral_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/deferral"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

func TestSelect(t *testing.T) {
	own, skill, server := llm.ToolBuiltIn, llm.ToolOfSkill, llm.ToolOfServer
	of := func(kind llm.ToolKind, last, calls int) deferral.Tool {
		return deferral.Tool{Kind: kind, Tokens: 100, Use: deferral.Use{Calls: calls, Last: last}}
	}
	for _, c := range []struct {
		name  string
		tools []deferral.Tool
		room  int
		want  []int
	}{
		{"R002-15_all that have room", []deferral.Tool{of(server, 0, 0), of(skill, 0, 0), of(own, 0, 0)}, 300, []int{0, 1, 2}},
		{"R002-15_built-in tools never leave", []deferral.Tool{of(own, 0, 0), of(own, 0, 0), of(server, 9, 9)}, 100, []int{0, 1}},
		{"R002-15_servers before skills", []deferral.Tool{of(skill, 0, 0), of(server, 9, 9), of(own, 0, 0)}, 200, []int{0, 2}},
		{"R002-15_least recently used first", []deferral.Tool{of(server, 3, 9), of(server, 7, 1), of(server, 5, 9)}, 200, []int{1, 2}},
		{"R002-15_never used before all", []deferral.Tool{of(server, 1, 1), of(server, 0, 0)}, 100, []int{0}},
		{"the later one of two alike", []deferral.Tool{of(server, 0, 0), of(server, 0, 0)}, 100, []int{0}},
		{"no more than has to", []deferral.Tool{of(skill, 0, 0), of(skill, 0, 0), of(server, 0, 0)}, 200, []int{0, 1}},
		{"none", nil, 0, []int{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := deferral.Select(c.tools, c.room); !slices.Equal(got, c.want) {
				t.Errorf("want %v, got %v", c.want, got)
			}
		})
	}
}

// What is shown fits, or nothing that could leave is left; and whatever stays was used no
// longer ago than whatever of its kind left.
func TestSelectHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tools := make([]deferral.Tool, rapid.IntRange(0, 40).Draw(t, "n"))
		for i := range tools {
			tools[i] = deferral.Tool{
				Kind:   llm.ToolKind(rapid.IntRange(0, 2).Draw(t, "kind")),
				Tokens: rapid.IntRange(0, 500).Draw(t, "tokens"),
				Use:    deferral.Use{Last: rapid.IntRange(0, 5).Draw(t, "last")},
			}
		}
		room := rapid.IntRange(0, 5000).Draw(t, "room")
		shown := deferral.Select(tools, room)
		total, loose := 0, 0
		for _, i := range shown {
			total += tools[i].Tokens
			if tools[i].Kind != llm.ToolBuiltIn {
				loose++
			}
		}
		if total > room && loose > 0 {
			t.Errorf("%d tokens in a room of %d with %d tools that could leave", total, room, loose)
		}
		for i, out := range tools {
			if slices.Contains(shown, i) {
				continue
			}
			for _, j := range shown {
				if in := tools[j]; in.Kind == out.Kind && in.Last < out.Last {
					t.Errorf("tool %d stays, last used at %d, and %d leaves, used at %d", j, in.Last, i, out.Last)
				}
				if in := tools[j]; in.Kind > out.Kind {
					t.Errorf("a tool of kind %s stays, one of %s leaves", in.Kind, out.Kind)
				}
			}
		}
	})
}

var shelf = []llm.Tool{
	{Name: "tracker__create_issue", Description: "Create a new issue. Use list_issues first.", Schema: `{"properties":{"title":{"type":"string"}}}`},
	{Name: "tracker__list_issues", Description: "Lists what was reported.", Schema: `{"properties":{"assignee":{}}}`},
	{Name: "tracker__create_issue_note", Description: "Add a comment."},
	{Name: "readFile", Description: "Read a file from disk.", Schema: `{"properties":{"where":{"properties":{"encoding":{}}}}}`},
	{Name: "odd", Description: "", Schema: "no schema"},
}

var desk = []llm.Tool{
	{Name: "desk__create_label", Description: "Create a label."},
	{Name: "desk__update_label", Description: "Update a label."},
	{Name: "desk__delete_label", Description: "Delete a label."},
	{Name: "desk__list_labels", Description: "List labels."},
	{Name: "desk__emulate", Description: "Emulate a device.", Schema: `{"properties":{
		"network":{"description":"How much it is throttled","enum":["offline","3g",1]},"screens":{"items":{"enum":["portrait"]}},"odd":true}}`},
}

func TestSearch(t *testing.T) {
	index := deferral.NewIndex(shelf)
	for _, c := range []struct {
		name, query string
		want        string // the first that are found
	}{
		{"R002-16_an exact name", "tracker__create_issue", "tracker__create_issue"},
		{"an exact name among words", "select: tracker__list_issues, please", "tracker__list_issues"},
		{"a name without its server", "create_issue", "tracker__create_issue tracker__create_issue_note"},
		{"a name in words", "Create issue", "tracker__create_issue tracker__create_issue_note"},
		{"the beginning of a name", "create_iss", "tracker__create_issue tracker__create_issue_note"},
		{"a name of several words in one", "read file", "readFile"},
		{"R002-16_words of the description", "comments", "tracker__create_issue_note"},
		{"other forms of a word", "reporting", "tracker__list_issues"},
		{"a parameter", "assignees", "tracker__list_issues"},
		{"a parameter within one", "encoding", "readFile"},
		{"nothing", "zebra", ""},
		{"no word", "?!", ""},
		{"only glue", "how is the", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, i := range index.Search(c.query, 5) {
				got = append(got, shelf[i].Name)
			}
			want := strings.Fields(c.want)
			if len(got) < len(want) || !slices.Equal(got[:len(want)], want) || len(want) == 0 && len(got) > 0 {
				t.Errorf("want %q, got %q", want, got)
			}
		})
	}
	if got := index.Search("issue", 1); len(got) != 1 {
		t.Errorf("want one at most, got %d", len(got))
	}
	if got := deferral.NewIndex(nil).Search("anything", 5); len(got) != 0 {
		t.Errorf("want nothing of nothing, got %v", got)
	}
}

// What somebody wants finds the tool that does it, in whatever words, and of several for the same
// thing the one that does that to it.
func TestSearchWhatIsWanted(t *testing.T) {
	index := deferral.NewIndex(desk)
	for _, c := range []struct{ name, query, want string }{
		{"a word for another", "amend a label", "desk__update_label"},
		{"words that belong together", "get rid of a label", "desk__delete_label"},
		{"R002-16_a question reads", "which label was updated", "desk__list_labels"},
		{"a wish does not", "a label, created as the others were listed", "desk__create_label"},
		{"a question further inside is none", "delete the label which was updated", "desk__delete_label"},
		{"R002-16_what is said of a parameter", "throttling", "desk__emulate"},
		{"a value of a parameter", "offline", "desk__emulate"},
		{"a value within one", "portrait", "desk__emulate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := index.Search(c.query, 1); len(got) == 0 || desk[got[0]].Name != c.want {
				t.Errorf("%q: want %s first, got the places %v", c.query, c.want, got)
			}
		})
	}
}

// Any text is a query, any definition is one.
func FuzzSearch(f *testing.F) {
	f.Add("name", "Some. Words", `{"properties":{"a":{}}}`, "query")
	f.Fuzz(func(t *testing.T, name, description, schema, query string) {
		tools := append(slices.Clone(shelf), llm.Tool{Name: name, Description: description, Schema: schema})
		found := deferral.NewIndex(tools).Search(query, 3)
		again := deferral.NewIndex(tools).Search(query, 3)
		if !slices.Equal(found, again) || len(found) > 3 {
			t.Errorf("want the same three at most, got %v and %v", found, again)
		}
	})
}

// No request has a word of the name of a tool that it is for, and each part has enough.
func TestRequests(t *testing.T) {
	parts := map[string]int{}
	for _, w := range wishes(t) {
		parts[w.part]++
		for _, tool := range w.tools {
			for _, part := range strings.FieldsFunc(strings.ToLower(tool), func(r rune) bool { return r == '_' || r == '-' }) {
				for _, word := range strings.FieldsFunc(strings.ToLower(w.text), func(r rune) bool { return r < 'a' || r > 'z' }) {
					if !slices.Contains([]string{"a", "to", "for", "all", "at"}, part) && word == part {
						t.Errorf("%q has %q, a word of %s", w.text, word, tool)
					}
				}
			}
		}
	}
	if parts["tune"] < 50 || parts["held"] < 50 || parts["more"] < 50 || len(parts) != 3 {
		t.Errorf("want three parts of 50 and more, got %v", parts)
	}
}

func BenchmarkSelect(b *testing.B) {
	tools := make([]deferral.Tool, 500)
	for i := range tools {
		tools[i] = deferral.Tool{Kind: llm.ToolOfServer, Tokens: 200 + i%7*50, Use: deferral.Use{Calls: i % 3, Last: i * 7919 % 500}}
	}
	for b.Loop() {
		deferral.Select(tools, 13_000)
	}
}

func BenchmarkSearch(b *testing.B) {
	tools := toolsets(b)
	index := deferral.NewIndex(tools)
	for b.Loop() {
		index.Search("who last changed line 120 of the parser", 5)
	}
}

func BenchmarkIndex(b *testing.B) {
	tools := toolsets(b)
	for b.Loop() {
		deferral.NewIndex(tools)
	}
}

func ExampleIndex_Search() {
	index := deferral.NewIndex([]llm.Tool{
		{Name: "files__read", Description: "Read a file."},
		{Name: "web__fetch", Description: "Download a page from the web."},
	})
	for _, place := range index.Search("downloading pages", 5) {
		fmt.Println(place)
	}
	// Output: 1
}
