const radix = 65_536;

/**
 * The indices of whole numbers in ascending order, equal ones in the order of their indices.
 *
 * Many are sorted by digits: calling back to compare them would take longer. Cost: O(n) for each 16 bits of the range.
 * @param keys whole numbers, the greatest less than 2^53 above the least.
 */
export function sortOrder(keys: Float64Array): Uint32Array {
  const { length } = keys;
  let least = Infinity;
  let most = -Infinity;
  for (const key of keys) {
    if (key < least) least = key;
    if (key > most) most = key;
  }
  let order = new Uint32Array(length);
  for (let index = 0; index < length; index += 1) order[index] = index;
  if (length < radix / 16)
    return order.sort((one, other) => (keys[one] as number) - (keys[other] as number) || one - other);
  for (let unit = 1; unit <= most - least; unit *= radix) order = sortByDigit(keys, order, least, unit);
  return order;
}

/**
 * The indices of elements in ascending order of a whole number of theirs, as `sortOrder` orders them. Cost: as
 * `sortOrder`.
 */
export function sortOrderBy<T>(elements: readonly T[], getKey: (element: T) => number): Uint32Array {
  const keys = new Float64Array(elements.length);
  for (let index = 0; index < elements.length; index += 1) keys[index] = getKey(elements[index] as T);
  return sortOrder(keys);
}

/**
 * Elements in ascending order of a whole number of theirs, equal ones in the order that they had. Cost: O(n) where they
 * are so already; else as `sortOrder`.
 */
export function sortedBy<T>(elements: T[], getKey: (element: T) => number): T[] {
  if (elements.every((element, index) => index === 0 || getKey(elements[index - 1] as T) <= getKey(element)))
    return elements;
  const sorted: T[] = [];
  for (const index of sortOrderBy(elements, getKey)) sorted.push(elements[index] as T);
  return sorted;
}

function sortByDigit(keys: Float64Array, order: Uint32Array, least: number, unit: number): Uint32Array<ArrayBuffer> {
  const places = new Uint32Array(radix + 1);
  const digits = new Uint16Array(order.length);
  for (let at = 0; at < order.length; at += 1) {
    // The last 16 bits; this is right for numbers beyond 32 bits too.
    const digit = Math.floor(((keys[order[at] as number] as number) - least) / unit) & (radix - 1);
    digits[at] = digit;
    places[digit + 1] = (places[digit + 1] as number) + 1;
  }
  for (let digit = 1; digit <= radix; digit += 1)
    places[digit] = (places[digit] as number) + (places[digit - 1] as number);
  const sorted = new Uint32Array(order.length);
  for (let at = 0; at < order.length; at += 1) {
    const digit = digits[at] as number;
    const place = places[digit] as number;
    sorted[place] = order[at] as number;
    places[digit] = place + 1;
  }
  return sorted;
}
