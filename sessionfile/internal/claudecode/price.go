package claudecode

import "github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"

// unpriced returns why list prices do not hold for a call with that usage report, empty
// if they do: another service tier or speed than the standard one has prices of its own, so
// may a region; what the provider looks up on the web is charged by the search, and what
// an advisor says at the prices of its own model.
func unpriced(usage []byte) string {
	if len(usage) == 0 || usage[0] != '{' {
		return ""
	}
	tier, speed, region, searched, advised := false, false, false, false, false
	read.EachField(usage, func(key, value []byte) {
		switch string(key) {
		case "service_tier":
			tier = !standard(value)
		case "speed":
			speed = !standard(value)
		case "inference_geo":
			region = !standard(value) && string(value) != `"not_available"` && string(value) != `"global"`
		case "server_tool_use":
			n := string(read.Field(value, "web_search_requests"))
			searched = n != "" && n != "0" && n != "null"
		case "iterations":
			advised = hasAdvisor(value)
		}
	})
	switch {
	case tier:
		return "a service tier other than the standard one"
	case speed:
		return "a speed other than the standard one"
	case region:
		return "a region that the call was bound to"
	case searched:
		return "searches of the web, which are charged extra"
	case advised:
		return "passes of an advisor, a model of its own whose tokens are not among the call's"
	}
	return ""
}

// hasAdvisor reports whether one of a call's passes was made by its advisor.
func hasAdvisor(passes []byte) (found bool) {
	read.EachElement(passes, func(value []byte) bool {
		found = string(read.Field(value, "type")) == `"advisor_message"`
		return !found
	})
	return found
}

// standard reports whether a field says so, or nothing.
func standard(value []byte) bool {
	switch string(value) {
	case `"standard"`, `""`, "null":
		return true
	}
	return false
}
