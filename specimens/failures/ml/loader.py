"""A row that cannot be read: `loader.py WORKERS ROW`."""

import sys

from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, row):
        if row == int(sys.argv[2]):
            raise KeyError(f"row {row} has no label")
        return row


def train():
    for _ in DataLoader(Rows(), batch_size=2, num_workers=int(sys.argv[1])):
        pass


if __name__ == "__main__":
    train()
