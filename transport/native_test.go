package transport_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// TestNativeDeferral: where the provider defers tools itself all of a client's are declared and the
// list never changes, the searches are hidden from the client, and a restart sends the same.
func TestNativeDeferral(t *testing.T) {
	codec, _ := codecs.For("anthropic")
	var once [][]byte
	for name, restarts := range map[string]bool{"R002-16_straight": false, "R002-16_over restarts": true} {
		t.Run(name, func(t *testing.T) {
			m := &docker{codec: codec, quays: []int{33, 2, 37}, search: policy.ToolSearch, model: "claude-opus-4-5"}
			sails(t, m, gateway.Options{Offer: true, ToolKind: isServers}, restarts)
			if m.n != 4+2 {
				t.Errorf("want four requests and two hidden Rounds, got %d: %q", m.n, m.tools)
			}
			for i, body := range m.bodies {
				if n := bytes.Count(body, []byte(`"defer_loading":true`)); n < 15 || n > 39 {
					t.Errorf("request %d: %d tools wait", i, n)
				}
				if is, was := gjson.GetBytes(body, "tools").Raw, gjson.GetBytes(m.bodies[0], "tools").Raw; is != was {
					t.Errorf("request %d: other tools than in the first, %.200s, want %.200s", i, is, was)
				}
			}
			if last := m.tools[len(m.tools)-1]; !slices.Contains(last, dockAt(33)) || !slices.Contains(last, dockAt(37)) || slices.Contains(last, dockAt(36)) {
				t.Errorf("want what was found before the model, and no more, got %q", last)
			}
			if once == nil {
				once = m.bodies
			} else if !slices.EqualFunc(once, m.bodies, bytes.Equal) {
				t.Error("over restarts other requests were sent")
			}
		})
	}
	t.Run("R002-16_by the provider's own search, where nothing is offered", func(t *testing.T) {
		m := &docker{codec: codec, quays: []int{33}, model: "claude-opus-4-5"}
		sails(t, m, gateway.Options{ToolKind: isServers}, false)
		tools := gjson.GetBytes(m.bodies[0], "tools").Array()
		if !strings.HasPrefix(tools[0].Get("type").String(), "tool_search_tool_bm25") || !bytes.Contains(m.bodies[0], []byte("tools are not listed")) {
			t.Errorf("want its search and a note, got %.300s", m.bodies[0])
		}
	})
	t.Run("R002-16_a mark of the client's on what waits", func(t *testing.T) {
		m := &docker{codec: codec, quays: []int{33}, search: policy.ToolSearch, model: "claude-opus-4-5", change: func(body []byte) []byte {
			at := bytes.Index(body, []byte(`{"name":"`+dockAt(39)))
			return slices.Concat(body[:at+1], []byte(`"cache_control":{"type":"ephemeral"},`), body[at+1:])
		}}
		sails(t, m, gateway.Options{Offer: true, ToolKind: isServers}, false)
		for i, body := range m.bodies {
			var marked []string
			for _, tool := range gjson.GetBytes(body, "tools").Array() {
				if tool.Get("cache_control").Exists() {
					marked = append(marked, tool.Get("name").String())
				}
			}
			if len(marked) != 1 || marked[0] == dockAt(39) {
				t.Errorf("request %d: want one mark, on what does not wait, got %q", i, marked)
			}
		}
	})
}
