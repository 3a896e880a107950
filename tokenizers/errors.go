package tokenizers

import "fmt"

// An UnsupportedError says that a tokenizer file asks for something that this package does not do. Counting without it
// would be wrong.
type UnsupportedError struct {
	File string // as it was named
	Path string // where in the file: "pre_tokenizer.pretokenizers[0].type"
	Got  string // what stands there
	Want string // what could
}

// Error names all four.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("tokenizers: load %s: %s, want %s, got %.120s", e.File, e.Path, e.Want, e.Got)
}

// A fault is an error at a place in the file, before the file's name is known.
type fault struct {
	path, want, got string
	unsupported     bool
}

func (f *fault) Error() string { return fmt.Sprintf("%s, want %s, got %.120s", f.path, f.want, f.got) }

func invalid(path, want, got string) error { return &fault{path: path, want: want, got: got} }

func unsupported(path, want, got string) error {
	return &fault{path: path, want: want, got: got, unsupported: true}
}
