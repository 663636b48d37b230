import { describe, expect, it } from 'vitest';
import { pageStyle } from '../../../src/gate/http/shared/page-style.ts';

describe('pageStyle', () => {
  const [light = '', dark = ''] = pageStyle.split('@media (prefers-color-scheme: dark)');
  const colourIn = (scheme: string, name: string): string =>
    new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(scheme)?.[1] ?? '';

  /** WCAG 2.2, relative luminance and contrast ratio. */
  const luminance = (colour: string): number => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
      const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one: string, other: string): number => {
    const [dim = 0, bright = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
    return (bright + 0.05) / (dim + 0.05);
  };
  const texts = [
    ...['text', 'muted', 'accent'].flatMap((text) => [[text, 'ground'] as const, [text, 'card'] as const]),
    ...['good', 'bad', 'warn', 'info'].map((text) => [text, `${text}-ground`] as const),
    ...['bad', 'warn'].map((text) => [text, 'card'] as const),
    ['on-accent', 'accent'] as const,
  ];

  it.each(texts)('has enough contrast for %s on %s in both schemes (AA, 4.5:1)', (text, ground) => {
    for (const scheme of [light, dark])
      expect(contrast(colourIn(scheme, text), colourIn(scheme, ground))).toBeGreaterThanOrEqual(4.5);
  });

  it.each(['field', 'focus'])('has enough contrast for the edge %s in both schemes (AA, 3:1)', (edge) => {
    for (const scheme of [light, dark])
      expect(contrast(colourIn(scheme, edge), colourIn(scheme, 'card'))).toBeGreaterThanOrEqual(3);
  });
});
