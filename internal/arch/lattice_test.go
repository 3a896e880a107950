package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// lattice says which package of the module may import which (DESIGN.md section 4).
//
//	A, B < C, D;    C and D may import A and B, and whatever A and B may
//	A !< B;         B never reaches A, not even through something else; x/... is x and all below it
//
// A name in capitals is not a package: it stands for the list on its left. A package that is not here may not exist, except below an internal
// folder of one that is: x/internal/y is a part of x, may import what x may, and is seen by x and what lies below it.
const lattice = `
	# The pure core, bottom up.
	NONE
	< core/llm
	< core/catalog
	< core/token/bpe
	< core/token
	< core/turn
	< core/ground
	< core/cache
	< core/budget
	< core/edit
	< core/meter
	< core/prompt
	< core/deferral
	< core/summary
	< core/loop
	< core/policy
	< core/journal
	< core/engine
	< CORE;

	# What stands between the core and the world. Formats and stores know the core's types, not the engine.
	core/journal < wire, wire/check, store;
	wire < wire/convert;
	wire < wire/anthropic, wire/openai, wire/gemini, wire/ollama;
	wire/anthropic, wire/openai, wire/gemini, wire/ollama, wire/convert < wire/codecs < WIRE;
	store < store/sqlite, store/storetest;
	store, store/sqlite < STORE;
	CORE < config, tokenizers, builtin;
	WIRE < sessionfile, client;
	sessionfile < sessionfile/formats < sessionfile/places;
	CORE, WIRE, sessionfile < inspect < advice;

	# The front door, and what drives an engine behind it.
	CORE, store < internal/drive;
	internal/drive, STORE, wire, builtin < plimsoll; # wire: the words by which errors are known

	# The hosts.
	plimsoll < telemetry;
	CORE, builtin < mcp; # the tools for clients of that protocol
	plimsoll, WIRE < gateway < transport; # what one exchange needs; it over HTTP
	transport, telemetry, client < proxy; # a server around it
	NONE < replay/verify; # shares no code with what it judges
	plimsoll, internal/drive, inspect, sessionfile/formats, WIRE, wire/check, replay/verify < replay;
	replay < internal/rows; # what stands in the tables of reports
	advice, internal/rows < web;
	core/loop, STORE, client < agent/loop;

	# Helpers of this module.
	NONE < internal/arch, internal/loadtest; # a load goes over the wire alone
	core/token/bpe < internal/genvocab;
	core/catalog < internal/gencatalog;
	CORE, WIRE, wire/check < internal/scriptmodel < cmd/scriptmodel, internal/clienttest, internal/proxytest;
	CORE, WIRE < internal/testagent; # a client, for tests
	proxy, wire/check < internal/ollamatest;
	plimsoll, client, internal/scriptmodel < internal/guardsim, examples/agentloop;
	plimsoll, WIRE, wire/check < internal/crosscheck;
	core/llm < internal/recording; # API recordings of the corpus, for tests

	# The program.
	config, tokenizers, builtin, telemetry, wire/check, sessionfile/places, advice, web, proxy, mcp, agent/loop < cmd/plimsoll;

	# The engine decides without the world, formats without a network, stores without formats. A replay cannot spend money.
	wire/..., store/..., client, net/http !< core/...;
	core/engine, net/http !< wire/...;
	core/engine, wire/... !< store/...;
	client !< inspect, replay, web;
`

// coreStd lists the only packages of the standard library that the core may import: for all of it, then for single packages.
const coreStd = `
	core/...: bytes cmp crypto/sha256 encoding/base32 encoding/binary encoding/hex encoding/json errors fmt hash iter maps
	core/...: math/bits slices sort strconv strings unicode unicode/utf8
	core/token/bpe: compress/gzip embed sync
	core/catalog: compress/gzip embed
	core/policy: compress/gzip embed
`

// imports returns the rule of direct imports: the lattice for packages of the module, coreStd for everything else the core imports.
func imports(l *relation, std map[string][]string, modPath string) rule {
	return func(u *unit) []string {
		self := floor(u.path)
		if !l.packages[self] {
			return []string{fmt.Sprintf("%s: package, want one that the lattice names (internal/arch, DESIGN.md section 4), got a new one", u.path)}
		}
		var faults []string
		for _, i := range u.imports() {
			name, inside := within(modPath, i.path)
			switch {
			case inside && !l.mayImport(self, name):
				faults = append(faults, fmt.Sprintf("%s: import, want only what the lattice allows %s, got %s", i.at, u.path, name))
			case !inside && inCore(u) && !matches(std, u.path, i.path):
				faults = append(faults, fmt.Sprintf("%s: import, want the core and its part of the standard library, got %s", i.at, i.path))
			}
		}
		return faults
	}
}

// floor finds the package of the lattice that a package is a part of: itself, unless it is in an internal folder of another.
func floor(pkg string) string {
	above, _, _ := strings.Cut(pkg, "/internal/")
	return above
}

// mayImport reports whether a package of the lattice, or a part of it, may import a package: what the lattice allows, and within one package
// its parts and it each other. Who may see an internal folder, and that nothing goes round in a circle, the compiler has checked.
func (l *relation) mayImport(self, name string) bool {
	above := floor(name)
	return l.allowed[self][above] || above == self
}

// within turns an import path into the name the tables use, if it lies inside the module.
func within(modPath, importPath string) (name string, inside bool) {
	if importPath == modPath {
		return rootName, true
	}
	return strings.CutPrefix(importPath, modPath+"/")
}

// matches reports whether a table row for the package, or for a folder above it, lists the import.
func matches(table map[string][]string, pkg, importPath string) bool {
	for pattern, list := range table {
		if !covers(pattern, pkg) {
			continue
		}
		for _, p := range list {
			if p == importPath {
				return true
			}
		}
	}
	return false
}

// reaches finds the breaches of the lattice's "!<" rules. deps maps a package to all it is built from.
func reaches(l *relation, deps map[string][]string) []string {
	var faults []string
	for pkg, list := range deps {
		for _, n := range l.never {
			if !covers(n.by, pkg) {
				continue
			}
			for _, d := range list {
				if covers(n.of, d) && d != pkg {
					faults = append(faults, fmt.Sprintf("%s: dependency, want %s never to reach %s, got %s", pkg, n.by, n.of, d))
				}
			}
		}
	}
	return faults
}

// buildDeps asks the go command what each package of the module is built from, other modules included.
func buildDeps(t *testing.T, modPath string) map[string][]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Deps", "./...")
	cmd.Dir = moduleRoot
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("arch: go list: %v", err)
	}
	deps := map[string][]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string
			Deps       []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return deps
		} else if err != nil {
			t.Fatalf("arch: go list: %v", err)
		}
		pkg, _ := within(modPath, p.ImportPath)
		for _, d := range p.Deps {
			name, _ := nameOf(modPath, d)
			deps[pkg] = append(deps[pkg], name)
		}
	}
}

// nameOf is within, with the path itself for what lies outside.
func nameOf(modPath, importPath string) (name string, inside bool) {
	if name, inside = within(modPath, importPath); inside {
		return name, true
	}
	return importPath, false
}

func TestImports(t *testing.T) {
	l, std := mustParse(t, lattice), mustTable(t, coreStd)
	hold(t, imports(l, std, modulePath(t)), everywhere)
}

func TestImportsCatches(t *testing.T) {
	l, std := mustParse(t, lattice), mustTable(t, coreStd)
	catch(t, imports(l, std, "example.test/m"), []sample{
		{name: "downwards", file: "core/turn/a.go", text: "package turn\n\nimport _ \"example.test/m/core/llm\"\n"},
		{name: "upwards", file: "core/llm/a.go", text: "package llm\n\nimport _ \"example.test/m/core/turn\"\n", want: "got core/turn"},
		{name: "host below", file: "core/engine/a.go", text: "package engine\n\nimport _ \"example.test/m\"\n", want: "got plimsoll"},
		{name: "replay and client", file: "replay/a.go", text: "package replay\n\nimport _ \"example.test/m/client\"\n", want: "got client"},
		{name: "root and store", file: "session.go", text: "package plimsoll\n\nimport _ \"example.test/m/store\"\n"},
		{name: "root and the seam of wire", file: "session.go", text: "package plimsoll\n\nimport _ \"example.test/m/wire\"\n"},
		{name: "root and codecs", file: "session.go", text: "package plimsoll\n\nimport _ \"example.test/m/wire/codecs\"\n", want: "got wire/codecs"},
		{name: "unknown package", file: "core/util/a.go", text: "package util\n", want: "got a new one"},
		{name: "std outside the list", file: "core/llm/a.go", text: "package llm\n\nimport \"time\"\n", want: "got time"},
		{name: "std of one package", file: "core/token/bpe/a.go", text: "package bpe\n\nimport \"sync\"\n"},
		{name: "std of another package", file: "core/token/a.go", text: "package token\n\nimport \"sync\"\n", want: "got sync"},
		{name: "foreign module", file: "core/llm/a.go", text: "package llm\n\nimport \"example.test/other\"\n", want: "got example.test/other"},
		{name: "name that starts alike", file: "core/llm/a.go", text: "package llm\n\nimport \"example.test/mother\"\n", want: "mother"},
		{name: "part of a package", file: "wire/internal/scan/a.go", text: "package scan\n\nimport _ \"example.test/m/core/llm\"\n"},
		{name: "part that knows its package", file: "wire/internal/scan/a.go", text: "package scan\n\nimport _ \"example.test/m/wire\"\n"},
		{name: "part too far up", file: "wire/internal/scan/a.go", text: "package scan\n\nimport _ \"example.test/m/core/engine\"\n", want: "got core/engine"},
		{name: "part seen from its package", file: "wire/a.go", text: "package wire\n\nimport _ \"example.test/m/wire/internal/scan\"\n"},
		{name: "part seen from below", file: "wire/openai/a.go", text: "package openai\n\nimport _ \"example.test/m/wire/internal/scan\"\n"},
		{name: "part of the core", file: "core/edit/internal/b/a.go", text: "package b\n\nimport _ \"time\"\n", want: "got time"},
		{name: "part of nothing", file: "util/internal/b/a.go", text: "package b\n", want: "got a new one"},
		{name: "test files are free", file: "core/llm/a_test.go", text: "package llm\n\nimport \"time\"\n"},
	})
}

func TestReaches(t *testing.T) {
	for _, fault := range reaches(mustParse(t, lattice), buildDeps(t, modulePath(t))) {
		t.Error(fault)
	}
}

func TestReachesCatches(t *testing.T) {
	l := mustParse(t, lattice)
	good := map[string][]string{"replay": {"plimsoll", "wire", "net"}, "client": {"net/http"}, "wire/openai": {"wire", "core/llm"}}
	if faults := reaches(l, good); len(faults) != 0 {
		t.Errorf("want no fault, got %q", faults)
	}
	for pkg, dep := range map[string]string{"replay": "client", "wire/openai": "net/http", "store/sqlite": "wire/openai", "core/engine": "store"} {
		if faults := reaches(l, map[string][]string{pkg: {"fmt", dep}}); len(faults) != 1 {
			t.Errorf("%s reaches %s: want one fault, got %q", pkg, dep, faults)
		}
	}
}
