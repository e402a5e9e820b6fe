# Prints free space of every drive.
Get-PSDrive -PSProvider FileSystem |
  Select-Object Name, @{ n = 'FreeGB'; e = { [math]::Round($_.Free / 1GB, 1) } } |
  Format-Table -AutoSize
