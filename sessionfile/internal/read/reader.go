package read

import (
	"archive/zip"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// A Reader reads one format, or a few that are alike. Each hook that is set looks at
// one kind of file and returns the format that it is, or "" if it is none of the
// reader's. Hooks must be strict: the first reader in the list that answers gets
// the file, and what no reader wants is an error with a useful text.
type Reader struct {
	Formats []sessionfile.Format

	// Line looks at one line of a file of JSON lines. The first 64 objects of a file
	// are shown, until some reader answers.
	Line func(Fields) sessionfile.Format
	// Document looks at a file that is one JSON object or array. It is asked only if
	// no Line hook answered.
	Document func(*Document) sessionfile.Format
	// Text looks at the first 64 KiB of a file that is no JSON.
	Text func(head []byte) sessionfile.Format
	// Zip looks at the names of a zip archive. It may open entries, within bounds.
	Zip func(*zip.Reader) sessionfile.Format

	// Database looks at an SQLite database, which lies at a path. The error is the database's.
	Database func(path string) (sessionfile.Format, error)
	// Parts lists the sessions of a database. They are read one by one ([Input.Part]).
	Parts func(path string) ([]Part, error)

	// Read reads the file. Its error is the source's ([Input.ReadAt]), or of
	// [Reading.NotFormat]; less than that is a Problem.
	Read func(*Reading, *Input) error
}

// A Part is one session of a file that holds several.
type Part struct {
	ID     string
	Parent string // id of the session whose sub-agent it is, if any
	Time   int64  // when it was last written, in Unix milliseconds
}

// Fields are the top-level fields of a JSON object, as they stand in the file.
type Fields map[string][]byte

// FieldsOf returns the fields of a valid JSON object, nil for another value. The
// last one of a name counts.
func FieldsOf(object []byte) Fields {
	if len(object) == 0 || object[0] != '{' {
		return nil
	}
	f := Fields{}
	EachField(object, func(key, value []byte) { f[string(key)] = value })
	return f
}

// Has reports whether all names are there.
func (f Fields) Has(names ...string) bool {
	for _, name := range names {
		if _, ok := f[name]; !ok {
			return false
		}
	}
	return true
}

// Str returns the text of a field that is a string, else "".
func (f Fields) Str(name string) string { return Str(f[name]) }

// Of returns the fields of a field that is an object, else nil.
func (f Fields) Of(name string) Fields { return FieldsOf(f[name]) }
