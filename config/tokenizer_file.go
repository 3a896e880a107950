package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tokenizerFile looks at the file that an estimator's id names, if it names one, without
// opening it, and reports whether there is nothing wrong with it. One that is not there yet
// is the business of whoever opens it.
func (r *settingsReader) tokenizerFile(path, id string, n *node) bool {
	if r.folder == "" {
		return true
	}
	if r.untrusted {
		return r.fileBelow(path, id, n)
	}
	file, named := fileOf(id)
	if !named {
		return true
	}
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		r.fault(n, "%s: want a regular file, got %s", path, info.Mode().Type())
		return false
	}
	return true
}

// fileBelow lets a file that is not trusted name nothing but a regular file below its own
// folder: what is read from elsewhere may be somebody's, or a device that never ends.
func (r *settingsReader) fileBelow(path, id string, n *node) bool {
	file, named := fileOf(id)
	switch {
	case !named && !strings.Contains(id, "hf:") && !strings.Contains(id, "spm:"):
		return true
	case !named: // inside max(A,B)
		r.distrust(path, n, "only name the file of a tokenizer by itself")
		return false
	}
	below := filepath.Join(r.folder, file)
	up := slices.Contains(strings.Split(filepath.ToSlash(file), "/"), "..") // means another folder behind a link
	info, err := os.Stat(below)
	if up || !filepath.IsLocal(file) || !isInside(r.folder, below) || err != nil || !info.Mode().IsRegular() {
		r.distrust(path, n, "only name a regular file below it")
		return false
	}
	return true
}

// fileOf returns the file that an estimator's id names: hf:FILE or spm:FILE.
func fileOf(id string) (file string, named bool) {
	kind, file, named := strings.Cut(strings.TrimSpace(id), ":")
	return file, named && (kind == "hf" || kind == "spm")
}

// TokenizerFiles returns the files that s names as tokenizers, each with where. Nothing is
// looked at: a file that is not there is no fault until it is used.
func (s Settings) TokenizerFiles() []Stated[string] {
	all := []Limits{}
	for _, p := range s.Providers {
		all = append(all, p.Limits)
		for _, m := range p.ModelLimits {
			all = append(all, m.Limits)
		}
	}
	for _, m := range s.Facts {
		all = append(all, m.Limits)
	}
	var out []Stated[string]
	for _, l := range all {
		if file, named := fileOf(l.Tokenizer.Value); named {
			out = append(out, Stated[string]{file, l.Tokenizer.From})
		}
	}
	return out
}

// isInside reports whether a path leads to something below a folder, behind all links.
func isInside(folder, path string) bool {
	root, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(root, real)
	return err == nil && filepath.IsLocal(rel)
}
