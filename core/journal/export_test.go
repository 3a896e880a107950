package journal

import (
	"encoding/json"
	"fmt"
	"reflect"
	"unicode/utf8"
)

// ReadsItself reports whether a line is read without encoding/json, and returns an error
// if that reads another one.
func ReadsItself(data []byte) (bool, error) {
	var r reader
	var want line
	r.reset(data)
	if !utf8.Valid(data) || !r.line() {
		return false, nil
	}
	got := r.into.line
	err := json.Unmarshal(data, &want)
	if late := got.unread; late != nil {
		var s state
		switch again := json.Unmarshal(late.JSON, &s); {
		case (again == nil) != (err == nil):
			return true, fmt.Errorf("state read later: want error %t, got %w", err != nil, again)
		case again != nil:
			return true, nil //nolint:nilerr // both find the fault
		case late.LastEdit != s.Edit:
			return true, fmt.Errorf("state read later: want edit %d, got %d", s.Edit, late.LastEdit)
		}
		got.State, got.unread = &s, nil
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		return true, fmt.Errorf("want %+v (%w), got %+v", want, err, got)
	}
	return true, nil
}
