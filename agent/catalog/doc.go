// Package catalog keeps the terminal's method definitions (S1 2.5): the last good list, with its age, refreshed in
// the background and used over restarts and outages.
//
// It owns the table catalog_list.
//
// It guarantees:
//   - a good list is replaced by a good list only; an error, an empty or a wholly unusable answer leaves it alone;
//   - a list whose stored row was changed, or that was fetched for another terminal, is not used;
//   - "no method exists for the merchant" is a state of its own, lasting until the service says otherwise;
//   - the service is asked once at a time, and after failures ever more slowly.
//
// It must not import the checkout or anything that knows what a sale is.
package catalog
