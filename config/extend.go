package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// extend applies the fields extends and without of a file and takes them out of
// it. It returns the tree that states the whole policy.
func extend(file *node) (*node, []problem) {
	base, without := file.take("extends"), file.take("without")
	if base == nil {
		if without != nil {
			return file, []problem{{without.at, "without: rules of no preset, want extends beside it"}}
		}
		return file, nil
	}
	if base.kind != text {
		return file, []problem{{base.at, "extends: want the name of a preset, got " + describe(base)}}
	}
	p, err := policy.Preset(base.text)
	if err != nil {
		return file, []problem{{base.at, "extends: " + err.Error()}}
	}
	tree, err := readJSON(p.JSON())
	if err != nil {
		return file, []problem{{base.at, "extends: " + err.Error()}}
	}
	forget(tree)
	tree.set("name", &node{kind: text, text: p.Name + "-custom", at: base.at})
	tree.set("about", &node{kind: text, text: aboutDerived(p.Name), at: base.at}) // what the preset's says need not hold
	problems := leaveOut(tree.get("rules"), without)
	return merge(tree, file), problems
}

// aboutDerived is what a policy says of itself that states only what it is derived from.
func aboutDerived(preset string) string { return "A policy derived from " + preset + "." }

// forget drops all places of a tree: they are those of another text.
func forget(n *node) {
	n.at = place{}
	for _, m := range n.members {
		forget(m.value)
	}
	for _, item := range n.items {
		forget(item)
	}
}

// leaveOut removes the rules that without names.
func leaveOut(rules, without *node) []problem {
	if without == nil {
		return nil
	}
	if without.kind != list {
		return []problem{{without.at, "without: want a list of rules, got " + describe(without)}}
	}
	var problems []problem
	for i, name := range without.items {
		at := ruleNamed(rules, name.text)
		if name.kind != text || at < 0 {
			problems = append(problems, problem{name.at, fmt.Sprintf("without[%d]: %s", i, unknownRule(name, rules))})
			continue
		}
		rules.items = append(rules.items[:at:at], rules.items[at+1:]...)
	}
	return problems
}

func unknownRule(name, rules *node) string {
	var known []string
	for _, r := range rules.items {
		if n := r.get("name"); n != nil {
			known = append(known, n.text)
		}
	}
	return policy.Fault{
		What: "no such rule in the preset", Want: strings.Join(known, ", "), Got: describe(name), Near: policy.Nearest(name.text, known),
	}.String()
}

// ruleNamed returns the index of a rule, or -1.
func ruleNamed(rules *node, name string) int {
	for i, r := range rules.items {
		if n := r.get("name"); n != nil && n.kind == text && n.text == name {
			return i
		}
	}
	return -1
}

// merge returns base with what over states: objects member by member, the rules
// of a policy by their names, everything else as a whole.
func merge(base, over *node) *node {
	if base == nil || base.kind != object || over.kind != object {
		return over
	}
	base.at = over.at
	for _, m := range over.members {
		old := base.get(m.name)
		if m.name == "rules" && old != nil && old.kind == list && m.value.kind == list {
			base.set(m.name, mergeRules(old, m.value))
			continue
		}
		base.set(m.name, merge(old, m.value))
	}
	return base
}

// mergeRules changes the rules of a preset. A name that the file states twice is
// added the second time, so that validation reports it.
func mergeRules(base, over *node) *node {
	base.at = over.at
	changed := map[string]bool{}
	for _, r := range over.items {
		name := r.get("name")
		at := -1
		if name != nil && name.kind == text && !changed[name.text] {
			at = ruleNamed(base, name.text)
			changed[name.text] = true
		}
		if at < 0 {
			base.items = append(base.items, r)
			continue
		}
		base.items[at] = merge(base.items[at], r)
	}
	return base
}

// reserved reports a policy that goes by the name of a preset and is another:
// reports compare policies by their names.
func reserved(p policy.Policy) string {
	preset, err := policy.Preset(p.Name)
	if err != nil || string(preset.JSON()) == string(p.JSON()) {
		return ""
	}
	return "name: a preset has this name and says something else, want another, got " + strconv.Quote(p.Name)
}
