export const later = (): unknown => setTimeout(() => Date.now(), 10);
