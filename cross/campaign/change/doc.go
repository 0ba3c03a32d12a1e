// Package change is the campaign on a world that changes between two steps of a sale. Tills of every
// protocol, local clients and the customers of payment links take random steps: a sale, its undo, an
// operation, a closing, a repetition under an old id. Before or under each step the world changes:
// the terminal is killed, restored or loses its journal, its configuration, address, account,
// currency or lines become others, its disk is locked or full, or the answers of the backend are
// another terminal's, doubled, late, a lagging site's or a proxy's own page.
//
// The judge is what tills and clients were told, beside the backends' books. It guarantees, once
// everything has settled:
//   - Told approved: the money moved exactly once, less what was told to be given back.
//   - Told anything else: none moved, unless the terminal names the sale in an alert, or still
//     works on it.
//   - No id moved money twice, and no id was told approved, then not paid.
//   - Nothing was done to another terminal's payments.
//   - The terminal starts, in every world that it has agreed to.
//
// A run is drawn from its seed before it begins, and a violation prints seed, steps and books. The
// campaign drives the built binary. It must not be imported.
package change
