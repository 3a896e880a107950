package plimsoll_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// TestABatchNeedNotWaitWhereTheProviderLetGo: a batch that does not pay waits while calls
// follow each other, and is made once the longest time has passed for which the provider
// keeps a prompt.
func TestABatchNeedNotWaitWhereTheProviderLetGo(t *testing.T) {
	for pause, edited := range map[time.Duration]bool{time.Minute: false, 59 * time.Minute: false, time.Hour: true} {
		t.Run(pause.String(), func(t *testing.T) {
			p, err := policy.Preset("balanced")
			if err != nil {
				t.Fatal(err)
			}
			p.Economy = policy.Economy{Horizon: 1}
			p.Rules = []policy.Rule{{
				Name: "batch", At: policy.AtPrepare, Do: policy.DoDemote,
				When: policy.Condition{Measure: policy.MeasureView, Op: ">", Permille: 300, Of: policy.OfLimit},
			}}
			p.LowWater, p.FirstBatch, p.References = 250, 0, policy.References{}
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			s := open(t, plimsoll.Options{
				Policy: p, Now: func() time.Time { return now }, WithoutTools: true,
				Targets: []budget.Target{{Model: "claude-sonnet-4-5", Window: budget.Window{Capacity: 40_000, Buffer: budget.None, OutputReserve: budget.None}}},
			})
			ctx := t.Context()
			say := func(m llm.Message) {
				t.Helper()
				if err := s.Append(ctx, m); err != nil {
					t.Fatal(err)
				}
			}
			say(llm.UserText("Look at it all."))
			prepare := func() bool {
				t.Helper()
				send, err := s.Prepare(ctx)
				if err != nil {
					t.Fatal(err)
				}
				return send.Edited
			}
			for i := range 20 {
				id := fmt.Sprint("c", i)
				say(llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: id, Name: "look", Args: "{}"}}})
				say(llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
					llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: strings.Repeat(fmt.Sprintf("mark %d of buoy %s\n", i*7, id), 150)}}},
				}})
				if i < 19 && prepare() {
					t.Fatalf("call %d: want the batch to wait", i+1)
				}
			}
			now = now.Add(pause)
			if got := prepare(); got != edited {
				t.Errorf("after a pause of %v: want an edit %v, got %v", pause, edited, got)
			}
		})
	}
}
