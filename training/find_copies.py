"""Find copies among the photos: python -m training.find_copies --images DIR --backbone FILE.

Writes training/copies.csv. Needed when photos are added; takes two minutes of a core.
"""

import argparse
from pathlib import Path

import torch
from torch.nn import functional

from training.copies import COPIES, Features, Pixels, Vectors, groups_of_copies, write_copies
from training.network import FROZEN_BLOCKS, Network
from training.photos import read_manifest
from training.pictures import load


def backbone_features(backbone: Path) -> Features:
    """What ImageNet's network makes of pictures before it names a class."""
    network = Network()
    network.load_backbone(backbone)
    network.eval()

    @torch.no_grad()
    def features(pictures: Pixels) -> Vectors:
        x = network.early(torch.from_numpy(pictures))
        for block in network.blocks[FROZEN_BLOCKS:]:
            x = block(x)
        means: Vectors = functional.relu6(network.top(x)).mean(dim=(2, 3)).numpy()
        return means

    return features


def main() -> None:
    """Group the photos that belong to no camera; a camera is one group anyway."""
    parser = argparse.ArgumentParser(prog="python -m training.find_copies", description=__doc__)
    parser.add_argument("--images", type=Path, required=True, help="the folder of the manifest")
    parser.add_argument("--backbone", type=Path, required=True, help="ImageNet weights, .npz")
    options = parser.parse_args()
    torch.set_num_threads(1)
    photos = [photo for photo in read_manifest(options.images) if not photo.is_in_situ]
    pictures = (picture.pixels for picture in load(options.images, photos))
    groups = groups_of_copies(pictures, backbone_features(options.backbone))
    write_copies([photo.path for photo in photos], groups, COPIES)


if __name__ == "__main__":
    main()
