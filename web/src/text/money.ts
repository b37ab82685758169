/** count writes a whole number. */
export const count = (language: string, n: number) => new Intl.NumberFormat(language).format(n);

/** dong writes an amount of Vietnamese đồng, which has no smaller unit. */
export const dong = (language: string, n: number) => new Intl.NumberFormat(language, { style: "currency", currency: "VND" }).format(n);
