package read

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"
)

// TestStrIsWhatTheStringSays: with every escape, pairs and halves of pairs.
func TestStrIsWhatTheStringSays(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"a", "well", "é", "日", `\n`, `\t`, `\r`, `\b`, `\f`, `\"`, `\\`, `\/`, `\u0041`, `\u00e9`, `\uD83D`, `\ude00`, `\ud83d\ude00`, `\uFFFD`,
	})
	rapid.Check(t, func(t *rapid.T) {
		value := []byte{'"'}
		for _, p := range rapid.SliceOf(pieces).Draw(t, "pieces") {
			value = append(value, p...)
		}
		value = append(value, '"')
		if got, want := Str(value), gjson.ParseBytes(value).String(); got != want {
			t.Fatalf("%s: want %q, got %q", value, want, got)
		}
	})
}

// TestCompactKeepsTokens: nothing but white space between tokens goes.
func TestCompactKeepsTokens(t *testing.T) {
	for _, value := range []string{
		` { "a" : [ 1 , "b \" \\" , null ] , "c d" : { } } `, "\"a b\\\" c\"", "[\n\t\r\n]", "1", ` "x"`, `{"a":"\\"}`, "[[ 1,2 ],\n{\"k\" :true}]",
	} {
		var want bytes.Buffer
		if err := json.Compact(&want, []byte(value)); err != nil {
			t.Fatal(err)
		}
		if got := Compact([]byte(value)); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s: want %s, got %s", value, want.Bytes(), got)
		}
	}
}
