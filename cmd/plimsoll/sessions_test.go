package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile/places"
)

// hours is a session with one call of a dollar and 100 tokens in each of some hours.
func hours(project string, at ...int64) known {
	k := known{Project: project}
	for _, h := range at {
		k.Hours = append(k.Hours, inspect.Hour{Hour: h, Model: "ship-1", BriefSum: inspect.BriefSum{Steps: 1, Tokens: 100, Cost: 1_000_000_000_000}})
	}
	return k
}

// A block begins with the first call after the one before has run out, whichever session made it.
func TestBlocks(t *testing.T) {
	const day = 20_000 * 24 // an hour at midnight
	all := []known{hours("a", day+1, day+3, day+8), hours("b", day+5, day+6)}
	var got []string
	for _, s := range sumsBy("block", all) {
		got = append(got, s.Name[len("2024-10-04 "):]+" "+strings.Repeat("*", s.Steps)+" "+strings.Repeat("s", s.Sessions))
	}
	if want := []string{"06:00 ** ss", "01:00 *** ss"}; !slices.Equal(got, want) {
		t.Errorf("want %q, got %q", want, got)
	}
}

// Calls without a time are in no day, and are not lost.
func TestSumsWithoutTime(t *testing.T) {
	got := sumsBy("day", []known{hours("a", 0, 20_000*24)})
	if len(got) != 2 || got[1].Name != noTime || got[1].Steps != 1 {
		t.Errorf("want a day, then %q, got %v", noTime, got)
	}
}

func TestSessionNames(t *testing.T) {
	for path, want := range map[string]string{
		"/h/.claude/projects/-w/0c0c0c0c-0000-4000-8000-000000000001.jsonl":                                    "0c0c0c0c-0000-4000-8000-000000000001",
		"/h/.codex/sessions/2026/09/01/rollout-2026-09-01T10-00-00-00000000-0000-4000-8000-000000000002.jsonl": "00000000-0000-4000-8000-000000000002",
		"/h/.gemini/tmp/ship/chats/session-2026-09-01T10-00-1a2b3c4d.json":                                     "1a2b3c4d",
		"/h/.pi/agent/sessions/--w--/2026-09-01T10-00-00-000Z_00000000-0000-4000-8000-000000000003.jsonl":      "00000000-0000-4000-8000-000000000003",
		"/h/.config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1761/api_conversation_history.json":   "1761",
		"/h/.copilot/session-state/00000000-0000-4000-8000-000000000004/events.jsonl":                          "00000000-0000-4000-8000-000000000004",
		"/h/.local/share/opencode/opencode.db#ses_5":                                                           "ses_5",
		"/h/.cline/data/sessions/176-sess/176-sess.messages.json":                                              "176-sess",
	} {
		if names := places.Names(path); names[len(names)-1] != want {
			t.Errorf("%s: want %s, got %v", path, want, names)
		}
	}
}

// TestShortNames: in a list a session has as much of its id as names it, which of ids that begin
// with a time is more.
func TestShortNames(t *testing.T) {
	all := []string{"01a220ed-592a-75e0-b0c7-a9c9261bb2d0", "01a220ed-5a01-7f41-a182-b73849bd0032", "0c0c0c0c-0000-4000-8000-000000000001", "1a2b3c4d"}
	for id, want := range map[string]string{
		all[0]: "01a220ed-59", all[1]: "01a220ed-5a", all[2]: "0c0c0c0c", all[3]: "1a2b3c4d",
	} {
		if got := shortOf(id, all); got != want {
			t.Errorf("%s: want %s, got %s", id, want, got)
		}
	}
}

// In a terminal each session is one line, what tells it apart is whole, and a + is explained.
func TestSessionsText(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	k := known{
		Found:   places.Found{Path: "/h/.claude/projects/-w/0c0c0c0c-0000-4000-8000-000000000001.jsonl", Client: "claude-code", Time: now.Add(-3 * time.Hour)},
		Short:   "0c0c0c0c",
		Project: "/srv/harbour/a/long/way/down/to/the/quayside",
		Brief: inspect.Brief{
			Model: "claude-sonnet-4-5-20250929", First: strings.Repeat("count the boats ", 20), Ended: "too long",
			BriefSum: inspect.BriefSum{Steps: 67, Tokens: 4_724_767, Cost: 2_540_000_000_000, Unpriced: 1},
		},
	}
	for _, width := range []int{60, 80, 120} {
		text := sessionsText([]known{k}, width, false, now)
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if len(lines) < 3 || !strings.HasPrefix(strings.TrimSpace(strip(lines[2])), "+: of some steps alone") {
			t.Fatalf("%d columns: want a head, a line and what + means, got\n%s", width, text)
		}
		for _, want := range []string{"0c0c0c0c", "3h", "…", "$2.54+", "/quayside"} {
			if !strings.Contains(lines[1], want) {
				t.Errorf("%d columns: want %s in %s", width, want, lines[1])
			}
		}
		for _, l := range lines {
			if n := lipgloss.Width(l); n > width {
				t.Errorf("%d columns: got %d: %s", width, n, l)
			}
		}
	}
	if whole := sessionsText([]known{k}, 120, true, now); !strings.Contains(whole, strings.TrimSpace(k.First)) || !strings.Contains(whole, k.Path) {
		t.Errorf("want all of it in a pipe, got %s", whole)
	}
}

// Sums of projects are a line each: in a terminal the end of a long folder's name, in a pipe all of it.
func TestSumsOfLongFolders(t *testing.T) {
	const folder = "/srv/harbour/a/very/long/way/down/past/all/of/the/cranes/and/sheds/to/the/quayside"
	sums := sumsBy("project", []known{hours(folder, 1)})
	if got := sumsText("project", sums, 80, false); strings.Count(got, "\n") != 2 || !strings.Contains(got, "/sheds/to/the/quayside") || !strings.Contains(got, "…") {
		t.Errorf("want one line with the end of the folder, got\n%s", got)
	}
	if got := sumsText("project", sums, 80, true); !strings.Contains(got, folder) {
		t.Errorf("want the folder whole, got\n%s", got)
	}
}
