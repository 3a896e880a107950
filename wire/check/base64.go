package check

import "strings"

// inBase64 reports a text that is not in base64. Only Gemini takes the alphabet for addresses
// (RFC 4648, section 5) besides the standard one, and does without padding.
func (n node) inBase64(addresses bool) {
	text, ok := n.text()
	if ok && !isBase64(text, addresses) {
		n.fault("image", "%s: %s", n.at, "invalid base64 data")
	}
}

// inDataURI reports the content of a data: URI that is not in base64, and an image of a type that OpenAI
// does not take. A text that is none is an address, which nothing is known of.
func (n node) inDataURI() {
	text, ok := n.text()
	head, data, comma := strings.Cut(text, ",")
	if !ok || !comma || !strings.HasPrefix(head, "data:") || !strings.HasSuffix(head, ";base64") {
		return
	}
	if !isBase64(data, false) {
		n.fault("image", "Invalid '%s': the data of the data: URI are not in base64.", n.at)
	}
	if kind, _, _ := strings.Cut(strings.TrimPrefix(head, "data:"), ";"); !takes(refusedOf(chat, ""), kind) {
		n.fault("media-source", "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].")
	}
}

func isBase64(text string, addresses bool) bool {
	text = strings.NewReplacer("\r", "", "\n", "").Replace(text) // which decoders pass over
	body := strings.TrimRight(text, "=")
	if len(text)-len(body) > 2 || !addresses && len(text)%4 != 0 || len(body)%4 == 1 {
		return false
	}
	for _, c := range []byte(body) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '+', c == '/':
		case addresses && (c == '-' || c == '_'):
		default:
			return false
		}
	}
	return true
}
