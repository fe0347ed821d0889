export const palette = {
  open: "Search",
  label: "Go to",
  placeholder: "Go to a page or a company",
  empty: "Nothing has that name.",
}
