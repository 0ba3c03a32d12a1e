package doctor

// german is the text of each check in German.
func german() map[string]Text {
	return map[string]Text{}
}
