package cline

import (
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// metadataName is the file of a task that says which model was asked from when on.
const metadataName = "task_metadata.json"

// A since is the model that is asked from a time on.
type since struct {
	time  int64
	model string
}

// beside are the files of a task that lie beside the one that is read; nil where they are not.
type beside struct{ shown, metadata *read.Document }

// besideOf reads them, once.
func besideOf(r *read.Reading, in *read.Input) beside {
	if b, ok := in.Kept.(beside); ok {
		return b
	}
	b := beside{shown: documentBeside(r, in, shownName), metadata: documentBeside(r, in, metadataName)}
	if b.shown != nil && !isShown(b.shown) {
		b.shown = nil
	}
	in.Kept = b
	return b
}

// documentBeside reads one of them.
func documentBeside(r *read.Reading, in *read.Input, name string) *read.Document {
	d, err := in.Beside(name)
	if err != nil {
		r.Problem(1, "%s beside it, left out: %v", name, err)
		return nil
	}
	return d
}

// modelsOf reads which models were asked, and the client's version. An entry stands for all
// calls until the next one.
func modelsOf(r *read.Reading, metadata *read.Document) []since {
	if metadata == nil {
		return nil
	}
	f := metadata.Fields()
	read.EachElement(f["environment_history"], func(value []byte) bool {
		if v := read.FieldsOf(value).Str("cline_version"); v != "" {
			r.Session.ClientVersion = v
		}
		return true
	})
	var all []since
	read.EachElement(f["model_usage"], func(value []byte) bool {
		entry := read.FieldsOf(value)
		if model, time := r.Name(entry["model_id"]), read.Time(entry["ts"]); model != "" && time > 0 {
			all = append(all, since{time, model})
		}
		return true
	})
	return all
}

// modelAt returns the model that was asked at a time; empty if that is not known. One that was
// never changed is asked at all times.
func modelAt(all []since, time int64) string {
	if len(all) == 1 {
		return all[0].model
	}
	model := ""
	for _, s := range all {
		if s.time <= time {
			model = s.model
		}
	}
	return model
}
