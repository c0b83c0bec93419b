export const fixture = 'provider';
