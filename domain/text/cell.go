package text

import "strings"

// Cell spells a text as a cell of CSV that no spreadsheet takes for a formula: with an apostrophe before it, if it begins as formulas do.
// What begins like a cell that has one gets another, so OfCell returns each text as it was.
func Cell(text string) string {
	if isFormula(text) {
		return "'" + text
	}
	return text
}

// OfCell returns the text that Cell spelled.
func OfCell(cell string) string {
	if strings.HasPrefix(cell, "'") && isFormula(cell) {
		return cell[1:]
	}
	return cell
}

// isFormula reports whether a text begins, after any apostrophes, as formulas do.
func isFormula(text string) bool {
	at := 0
	for at < len(text) && text[at] == '\'' {
		at++
	}
	return at < len(text) && strings.IndexByte("=+-@\t\r", text[at]) >= 0
}
