// Tests have types as well.
export const wrong: string = 1;
