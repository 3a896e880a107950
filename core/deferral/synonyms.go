package deferral

var synonyms = map[string][]string{}
