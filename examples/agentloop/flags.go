package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// options are what the command line says beside what an agent has.
type options struct{ policy, folder, task string }

// parse reads the command line; what is wrong with it ends the program.
func parse() (*agent, options) {
	a, o := &agent{told: os.Stderr, steps: 12}, options{}
	flag.StringVar(&o.policy, "policy", "guard", "`name` of the policy")
	flag.StringVar(&o.folder, "dir", ".", "`folder` that the tools see")
	flag.StringVar(&a.base, "base-url", "", "`URL` of all models; empty: each provider's own")
	flag.Func("max-steps", "`number` of calls by which a model has to answer, 1 or more (default 12)", func(text string) (err error) {
		if a.steps, err = strconv.Atoi(text); err != nil || a.steps < 1 {
			return errors.New("want a number, 1 or more")
		}
		return nil
	})
	flag.Func("model", "`provider/model` to ask; more of them: where to go if it has no room or fails", func(name string) error {
		provider, model, _ := client.Split(name)
		if _, ok := client.Lookup(provider); !ok {
			return fmt.Errorf("want provider/model, with a provider of %v", client.Names())
		}
		a.models = append(a.models, budget.Target{Provider: provider, Model: model})
		return nil
	})
	flag.Parse()
	if o.task = strings.Join(flag.Args(), " "); o.task == "" {
		o.task = "What is in this folder?"
	}
	return a, o
}

// options are what the session of an agent begins with: its system prompt stands in sections, what changes least first.
func (a *agent) options(p policy.Policy, folder string) plimsoll.Options {
	return plimsoll.Options{
		Policy: p, Targets: a.models, Catalog: &a.known,
		Prompt: &plimsoll.Prompt{Base: "You answer questions about a folder of files.", Rules: folder},
	}
}

// report returns the text of a final report: that of its only field, if its arguments are such an object.
func report(args string) string {
	var fields map[string]string
	if err := json.Unmarshal([]byte(args), &fields); err == nil && len(fields) == 1 && fields["report"] != "" {
		return fields["report"]
	}
	return args
}
