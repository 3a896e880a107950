// Package arch holds the architecture of Plimsoll as tests: which package may import which, what the pure core may not contain, and how
// big things may get.
//
// It has no code of its own and is imported by nothing. `go test ./internal/arch` reads the source of the whole module and fails with one
// line per fault, each with its position and what to do about it. The rules are DESIGN.md section 4 (layers) and the
// style of CONTRIBUTING.md; the tables that hold them are text, in lattice_test.go, pure_test.go and names_test.go, and are changed in the
// commit that changes those pages. The pages themselves are held to the code: what DESIGN.md names exists, what it plans does not.
//
// Every rule is a function from one package to its faults. Beside the test that applies it to the module stands one that feeds it source
// with a known fault and one without, so that no rule can quietly stop finding anything.
package arch
