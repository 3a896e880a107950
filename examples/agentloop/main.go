// Agentloop is a whole agent in one file: a loop around a plimsoll.Session that asks models, runs their tools side by side, and goes to
// the next model where one has no room or fails. Without -model it asks two scripted ones (demo.go). The command line is read in flags.go.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
)

// An agent is a session, and what it takes to call models and tools for it.
type agent struct {
	session *plimsoll.Session
	models  []budget.Target // where calls may go, the preferred one first
	base    string          // URL of all models; empty: each provider's own
	known   catalog.Catalog
	refused catalog.Refusals
	files   *os.Root  // that the tools see
	steps   int       // that a Turn may have
	told    io.Writer // of models that failed
}

// work runs a Turn, Step after Step, until a model has answered. The numbers are those of R002-24.
func (a *agent) work(ctx context.Context, task string) (answer string, err error) {
	// In the next Turn a model that failed is asked again.
	defer func(all []budget.Target) { a.models = all }(a.models)
	err = errors.Join(
		a.session.SetTools(ctx, []llm.Tool{
			{Name: "list_files", Description: "Lists a folder.", Schema: `{"type":"object","properties":{"path":{"type":"string"}}}`},
			{Name: "read_file", Description: "Reads a file.", Schema: `{"type":"object","properties":{"path":{"type":"string"}}}`},
			{Name: policy.ToolFinalReport, Description: "Ends the work.", Schema: `{"type":"object","properties":{"report":{"type":"string"}}}`},
		}),
		a.session.Append(ctx, llm.UserText(task)),
	)
	for n, done := 1, false; err == nil && !done; n++ {
		answer, done, err = a.step(ctx, n)
	}
	if err != nil {
		return "", err
	}
	return answer, a.session.TurnEnd(ctx)
}

// step is one call of a model with its retries, and the tools that it asks for.
func (a *agent) step(ctx context.Context, n int) (answer string, done bool, err error) {
	if n == a.steps {
		err = a.session.Finish(ctx, engine.ReasonMaxTurns)
	}
	// 1: the system prompt of its sections (options). 2, 3, 4: measures, and makes the room that the policy wants, with what a restart needs.
	// 6: what of the request its provider is to cache.
	send, failed := a.session.Prepare(ctx, a.models...)
	if err = errors.Join(err, failed); err != nil {
		return "", false, err
	}
	// 5: tools that are shown only once they are searched for come with a later part
	reply, err := a.exchange(ctx, send) // 7
	if err != nil {
		return "", false, err
	}
	calls := reply.Message.Calls()
	answer, done = reply.Message.Text(), len(calls) == 0 || send.Final != engine.ReasonNone
	if i := slices.IndexFunc(calls, func(c llm.ToolCall) bool { return c.Name == policy.ToolFinalReport }); i >= 0 {
		answer, done = report(calls[i].Args), true
	}
	return answer, done, a.tools(ctx, calls) // 9: what a method of the session was told is stored when it returns
}

// exchange sends a request until there is a reply, and hands that in. One that was refused as too long is sent shorter, one that failed
// goes to the next model for the rest of the Turn. If the last model fails the error names why each did.
func (a *agent) exchange(ctx context.Context, send *engine.Send) (reply llm.Response, err error) {
	var before error
	for refused := 0; err == nil; refused++ {
		if reply, err = a.ask(ctx, send); err == nil {
			return reply, a.session.Reply(ctx, reply)
		}
		switch {
		case refused < 5 && plimsoll.IsTooLong(err):
			send, err = a.session.Rejected(ctx, err)
		case len(a.models) > 1:
			_, _ = fmt.Fprintf(a.told, "%s is not asked any more in this turn: %v\n", send.Target.Name(), err)
			before = errors.Join(before, err)
			a.models = slices.DeleteFunc(slices.Clone(a.models), func(t budget.Target) bool { return t.Name() == send.Target.Name() })
			send, err = a.session.Prepare(ctx, a.models...) // nothing is counted twice
		}
	}
	return reply, errors.Join(before, err)
}

// ask sends a request to its target, in that one's dialect, with the client's own retries.
func (a *agent) ask(ctx context.Context, send *engine.Send) (llm.Response, error) {
	p, _ := client.Lookup(send.Target.Provider)
	if a.base != "" {
		p.BaseURL, p.BaseEnv, p.KeyOptional = a.base, nil, true
	}
	c, err := client.New(p, client.Options{})
	if err != nil {
		return llm.Response{}, err
	}
	dialect, _ := a.known.Dialect(p.Dialect)
	model, _ := a.known.Lookup(send.Target.Model)
	fit := convert.Request(send.Request(), dialect, convert.Options{Refused: a.refused.Of(dialect.Name, model)})
	reply, err := c.Complete(ctx, fit.Request)
	return fit.Aliases.Restore(reply), err
}

// tools runs calls side by side (8). Who has room depends on their order alone: a call that finds none beside those that run waits for
// what they leave. Where that is too little its output is shown as a handle; where not even a handle has room no more tools run.
func (a *agent) tools(ctx context.Context, calls []llm.ToolCall) error {
	const most = 4_096 // tokens that an output has: of more than 12,288 bytes the policy guard shows a handle
	errs, b := make([]error, len(calls)), a.session.Budget()
	var running sync.WaitGroup
	for i, c := range calls {
		if !b.Preview(most) {
			running.Wait()
		}
		held, err := b.Reserve(ctx, most)
		_, full := errors.AsType[*plimsoll.BudgetError](err)
		switch {
		case err != nil && !full:
			errs[i] = err
		case !b.CanExecute(c.Name):
			errs[i] = a.session.Skip(ctx, c.CallID)
		default:
			running.Go(func() { errs[i] = a.tool(ctx, c, held) })
		}
	}
	running.Wait()
	return errors.Join(errs...)
}

// tool runs a call and hands in what it puts out.
func (a *agent) tool(ctx context.Context, c llm.ToolCall, held plimsoll.Reservation) error {
	defer a.session.Budget().Release(held)
	if served, err := a.session.Builtin(ctx, c); served || err != nil { // the model reads on in an output that it saw a part of
		return err
	}
	out, failed := a.run(c)
	if failed != nil {
		out = io.NopCloser(strings.NewReader(failed.Error()))
	}
	defer out.Close()
	_, err := a.session.ToolResult(ctx, plimsoll.Result{CallID: c.CallID, Body: out, IsError: failed != nil, Reserved: held})
	return err
}

// run opens what a tool puts out. Nothing outside the folder can be reached.
func (a *agent) run(c llm.ToolCall) (io.ReadCloser, error) {
	var args struct{ Path string }
	err := json.Unmarshal([]byte(c.Args), &args)
	info, failed := a.files.Stat(args.Path)
	switch {
	case c.Name == policy.ToolFinalReport: // is the answer, and puts out nothing
		return io.NopCloser(strings.NewReader("")), nil
	case err != nil || failed != nil:
		return nil, errors.Join(err, failed)
	case c.Name == "read_file" && info.Mode().IsRegular():
		return a.files.Open(args.Path)
	case c.Name == "list_files" && info.IsDir():
		list, err := fs.ReadDir(a.files.FS(), args.Path)
		return io.NopCloser(strings.NewReader(fmt.Sprint(list))), err
	}
	return nil, fmt.Errorf("%s %s: want a known tool, and a file or a folder, got %v", c.Name, args.Path, info.Mode())
}

func main() {
	ctx := context.Background()
	a, o := parse()
	a.demo() // unless -model names others
	a.known, a.refused, a.files = must(catalog.Load()), must(catalog.LoadRefusals()), must(os.OpenRoot(o.folder))
	a.session = must(plimsoll.Open(ctx, a.options(must(policy.Preset(o.policy)), o.folder)))
	answer, err := "", error(nil)
	go func() {
		answer, err = a.work(ctx, o.task)
		_ = a.session.Close() // ends the events
	}()
	for e := range a.session.Events(ctx) {
		fmt.Fprintln(os.Stderr, e.Text)
	}
	fmt.Println(must(answer, err))
}
