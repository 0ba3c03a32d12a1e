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
//
// Decisions.
//
// 2026-11-21. A list stays usable whatever its age: a terminal that cannot reach the method service may still reach the
// schemes. Stale says that it is older than two refresh intervals, for the status page.
//
// 2026-11-21. NotFound takes the list away, because it is the service's own word (methods.Service). An empty list
// is not: it counts as a bad answer while a good list is known, and as no methods otherwise.
//
// 2026-11-21. After a failure 5 s doubling to 5 minutes, spread; without methods every 5 minutes; never longer than the
// refresh interval.
package catalog
