package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/tokenizers"
)

// inspectFlags are the flags of plimsoll inspect.
type inspectFlags struct {
	step    string
	diff    string
	page    htmlFlags
	model   string
	top     int
	message int
	context bool
	follow  bool
	steps   bool
	json    bool
}

// diffBefore is what --diff means without a range: the Step of --step and the one
// before it.
const diffBefore = "before"

// defaultListed is how many of each list a person is shown unless --top says
// otherwise.
const defaultListed = 5

// stepRange is the form of a range of --diff.
const stepRange = `^\d+(\.\d+)?\.\.\d+(\.\d+)?$`

// takeRange takes the range of --diff A..B out of the paths: --diff can stand alone,
// so that what follows it comes as a path.
func (f *inspectFlags) takeRange(paths []string) []string {
	if f.diff != diffBefore {
		return paths
	}
	form := regexp.MustCompile(stepRange)
	i := slices.IndexFunc(paths, form.MatchString)
	if i < 0 {
		return paths
	}
	f.diff = paths[i]
	return slices.Delete(slices.Clone(paths), i, i+1)
}

func (f inspectFlags) check() error {
	switch {
	case f.message < 0:
		return usage(fmt.Errorf("inspect: --message %d, want the number of a message, from 1", f.message), "plimsoll inspect PATH --step 12 --message 7")
	case f.message > 0 && (f.diff != "" || f.context || f.json):
		return usage(errors.New("inspect: --message, want it without --diff, --context and --json"), "")
	case f.context && f.diff != "" || f.follow && (f.step != "" || f.diff != "" || f.context || f.page.html != "" || f.json):
		return usage(errors.New("inspect: --context and --follow, want them without --diff, and --follow alone"), "")
	case f.top < 0:
		return usage(fmt.Errorf("inspect: --top %d, want at least 1", f.top), "")
	case f.diff == diffBefore && f.step == "":
		return usage(errors.New("inspect: --diff, want two steps A..B, or one with --step"), "plimsoll inspect PATH --step 12 --diff shows what changed since step 11")
	case f.diff != "" && f.diff != diffBefore && f.step != "":
		return usage(errors.New("inspect: --step and --diff A..B, want one of them, got both"), "")
	case f.page.html != "" && (f.step != "" || f.diff != ""):
		return usage(errors.New("inspect: --html, want it without --step and --diff, which are not part of the page"), "")
	}
	return f.page.check("inspect")
}

// options are what the analysis stands on. Texts are counted once.
func (f inspectFlags) options() (inspect.Options, error) {
	cat, err := loadCatalog("")
	if err != nil {
		return inspect.Options{}, err
	}
	if err := checkModel("inspect", f.model, cat); err != nil {
		return inspect.Options{}, err
	}
	o := inspect.Options{Catalog: cat, Model: f.model, Top: f.top, Talk: f.page.html != "" && !f.page.redact}
	if f.top == 0 && !f.json {
		o.Top = defaultListed
	}
	o.Encodings = (&plimsoll.Encodings{Other: tokenizers.Encoding}).Load
	return o, nil
}
