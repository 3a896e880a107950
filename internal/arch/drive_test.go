package arch

import (
	"fmt"
	gotoken "go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// driver is the package that alone feeds machines, and drivers are those that may ask it to: no host decides what is fed in what order.
const (
	driver  = "internal/drive"
	drivers = "plimsoll replay"
)

// driving are the methods that change a machine.
const driving = "engine.Machine.Feed engine.Machine.Ready engine.Machine.Advance"

// drives returns the places outside of the engine and its driver that change a machine, and where the driver is imported by somebody else
// than its hosts.
func drives(all []*typed) []string {
	var faults []string
	for _, t := range all {
		if t.unit.path == driver || t.unit.path == "core/engine" {
			continue
		}
		for id, obj := range t.info.Uses {
			if f, ok := obj.(*types.Func); ok && f.Pkg() != nil && slices.Contains(strings.Fields(driving), titleOf(f)) {
				faults = append(faults, fmt.Sprintf("%s: machine, want only %s to change one, got %s", t.unit.at(id.Pos()), driver, titleOf(f)))
			}
		}
		for _, i := range t.unit.imports() {
			if strings.HasSuffix(i.path, "/"+driver) && !slices.Contains(strings.Fields(drivers), floor(t.unit.path)) {
				faults = append(faults, fmt.Sprintf("%s: import, want %s used by %s alone, got %s", i.at, driver, drivers, t.unit.path))
			}
		}
	}
	slices.Sort(faults)
	return faults
}

func TestOnePlaceDrives(t *testing.T) {
	units := module(t)
	for _, fault := range drives(newChecker(modulePath(t), units).all(units)) {
		t.Error(fault)
	}
}

func TestOnePlaceDrivesCatches(t *testing.T) {
	const engine = "package engine\n\ntype Machine struct{}\n\nfunc (*Machine) Feed(int) {}\nfunc (*Machine) Count() int { return 0 }\n"
	for _, s := range []struct{ name, file, text, want string }{
		{"looks", "web/a.go", "func look(m *engine.Machine) int { return m.Count() }", ""},
		{"feeds", "web/a.go", "func feed(m *engine.Machine) { m.Feed(1) }", "got engine.Machine.Feed"},
		{"feeds by value", "web/a.go", "func feed(m *engine.Machine) func(int) { return m.Feed }", "got engine.Machine.Feed"},
		{"drives", "internal/drive/a.go", "func feed(m *engine.Machine) { m.Feed(1) }", ""},
		{"asks the driver", "replay/a.go", "func feed(d *drive.Driver) { d.Go() }", ""},
		{"asks the driver from elsewhere", "web/a.go", "func feed(d *drive.Driver) { d.Go() }", "got web"},
	} {
		t.Run(s.name, func(t *testing.T) {
			imported := "m/core/engine"
			if strings.Contains(s.text, "drive.") {
				imported = "m/internal/drive"
			}
			units, fset := map[string]*unit{}, gotoken.NewFileSet()
			for file, text := range map[string]string{
				"core/engine/engine.go":   engine,
				"internal/drive/drive.go": "package drive\n\ntype Driver struct{}\n\nfunc (*Driver) Go() {}\n",
				s.file:                    "package x\n\nimport \"" + imported + "\"\n\n" + s.text + "\n",
			} {
				u := unitFor(units, file)
				u.fset = fset
				if u.path == driver && file == s.file {
					text = strings.Replace(text, "package x", "package drive", 1)
				}
				if err := u.add(file, []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			var all []*unit
			for _, u := range units {
				all = append(all, u)
			}
			got := drives(newChecker("m", all).all(all))
			if len(got) > 1 || strings.Join(got, "") == "" != (s.want == "") || !strings.Contains(strings.Join(got, ""), s.want) {
				t.Errorf("want %q, got %q", s.want, got)
			}
		})
	}
}
